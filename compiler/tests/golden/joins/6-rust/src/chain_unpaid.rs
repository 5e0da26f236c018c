//! The chain `unpaid`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_unpaid_2 = cx
        .hash::<
            Change<types::Unpaid2>,
            (i64, Str, Option<Decimal<10, 2>>),
            _,
        >(
            11,
            |change: &Change<types::Unpaid2>| {
                let row = &change.row;
                Ok((row.o, row.customer.clone(), row.paid))
            },
        )?;
    let select_0 = cx
        .operator(
            "unpaid/select/0",
            "unpaid: select",
            Project::new(|change: Change<types::Unpaid>| {
                let row = change.row;
                Ok(Change {
                    kind: change.kind,
                    row: types::Unpaid2 {
                        o: row.id,
                        paid: row.p_amount,
                        customer: row.customer,
                    },
                })
            }),
            to_unpaid_2,
        )?;
    let join_0 = cx
        .operator(
            "unpaid/join/0",
            "unpaid: join",
            UnboundedJoin::<
                _,
                OverRows,
                OverChanges,
                OverChanges,
            >::new(JoinKind::Left, UnpaidJoin)
                .ttl(86_400_000_000),
            select_0,
        )?;
    cx.two_inputs::<
            types::Order,
            Change<types::Payment>,
            _,
        >(&[Side::Left, Side::Right], join_0)
}

/// in.flow:17 left join latest as p on id == p.order_id and coupon == p.coupon and p.amount > 0
struct UnpaidJoin;

impl Joining for UnpaidJoin {
    type Left = types::Order;
    type Right = types::Payment;
    type Key = (i64, Option<Str>);
    type Out = types::Unpaid;
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError> {
        Ok((row.id, row.coupon.clone()))
    }
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError> {
        Ok((row.order_id, Some(row.coupon.as_str()).map(Str::from)))
    }
    fn can_match(&self, key: &Self::Key) -> bool {
        key.1.is_some()
    }
    fn matches(
        &self,
        _left: &Self::Left,
        right: &Self::Right,
    ) -> Result<bool, EvalError> {
        Ok(right.amount > Decimal::<10, 2>(0))
    }
    fn both(
        &self,
        left: &Self::Left,
        right: &Self::Right,
        _window: WindowBounds,
    ) -> Option<Self::Out> {
        Some(types::Unpaid {
            id: left.id,
            customer: left.customer.clone(),
            p_amount: Some(right.amount),
        })
    }
    fn left_only(&self, left: &Self::Left, _window: WindowBounds) -> Option<Self::Out> {
        Some(types::Unpaid {
            id: left.id,
            customer: left.customer.clone(),
            p_amount: None,
        })
    }
}
