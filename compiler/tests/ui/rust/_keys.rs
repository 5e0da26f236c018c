use millstream::prelude::*;

#[derive(Clone, Record)]
pub struct Rate {
    #[flow(key)]
    pub currency: String,
    pub rate: f64,
}

#[derive(Clone, Record)]
pub struct Plain {
    pub currency: String,
    pub rate: f64,
}
