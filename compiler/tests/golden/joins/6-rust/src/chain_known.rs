//! The chain `known`.

use millstream::codegen::*;
use crate::types;

/// Builds the chain of one subtask.
pub fn build(cx: &mut ChainBuilder<'_>) -> JobResult<Box<dyn Chain>> {
    let to_known_2 = cx
        .hash::<
            Change<types::Known2>,
            (i64, Decimal<10, 2>),
            _,
        >(
            12,
            |change: &Change<types::Known2>| {
                let row = &change.row;
                Ok((row.o, row.amount))
            },
        )?;
    let select_0 = cx
        .operator(
            "known/select/0",
            "known: select",
            Project::new(|change: Change<types::Known>| {
                let row = change.row;
                Ok(Change {
                    kind: change.kind,
                    row: types::Known2 {
                        o: row.id,
                        amount: row.p_amount,
                    },
                })
            }),
            to_known_2,
        )?;
    let join_0 = cx
        .operator(
            "known/join/0",
            "known: join",
            UnboundedJoin::<
                _,
                OverRows,
                OverChanges,
                OverChanges,
            >::new(JoinKind::Inner, KnownJoin)
                .broadcast(),
            select_0,
        )?;
    cx.two_inputs::<
            types::Order,
            Change<types::Payment>,
            _,
        >(&[Side::Left, Side::Right], join_0)
}

/// in.flow:32 join latest as p on id == p.order_id broadcast
struct KnownJoin;

impl Joining for KnownJoin {
    type Left = types::Order;
    type Right = types::Payment;
    type Key = i64;
    type Out = types::Known;
    fn left_key(&self, row: &Self::Left) -> Result<Self::Key, EvalError> {
        Ok(row.id)
    }
    fn right_key(&self, row: &Self::Right) -> Result<Self::Key, EvalError> {
        Ok(row.order_id)
    }
    fn both(
        &self,
        left: &Self::Left,
        right: &Self::Right,
        _window: WindowBounds,
    ) -> Option<Self::Out> {
        Some(types::Known {
            id: left.id,
            p_amount: right.amount,
        })
    }
}
