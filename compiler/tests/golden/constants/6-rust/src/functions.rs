//! Functions of the text.

use millstream::codegen::*;

/// in.flow:11 fn euros(dollars: decimal(10, 2)) = dollars * 0.908
pub fn euros(dollars: Decimal<10, 2>) -> Result<Decimal<13, 5>, EvalError> {
    Ok(
        arith::mul::<Decimal<13, 5>, _, _>(dollars, Decimal::<3, 3>(908))
            .at("dollars * 0.908", "in.flow:11:37")?,
    )
}
