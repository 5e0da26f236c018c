use millstream::prelude::*;

/// A feature that no single file has.
#[cfg(feature = "geo")]
#[function]
pub fn distance(a: f64, b: f64) -> f64 {
    (a - b).abs()
}

#[cfg(feature = "geo")]
#[derive(Default)]
pub struct Nearest {}

#[cfg(feature = "geo")]
#[operator]
impl Process for Nearest {
    type Input = Place;
    type Output = Place;

    fn process(&mut self, place: Place, cx: &mut Context<'_, Self>) -> Result<(), Failure> {
        cx.emit(place);
        Ok(())
    }
}

#[derive(Clone, Debug, Record)]
pub struct Place {
    pub x: f64,
    #[cfg(feature = "geo")]
    pub y: f64,
}

#[cfg(not(feature = "geo"))]
#[function]
pub fn twice(x: f64) -> f64 {
    2.0 * x
}

#[cfg(feature = "geo")]
#[derive(Clone, Debug, Record)]
pub struct Region {
    pub name: String,
}

#[cfg(feature = "geo")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Record)]
pub enum Side {
    Left,
    Right,
}

/// Asks a service.
#[cfg(feature = "geo")]
#[derive(Connector)]
#[flow(name = "map_service")]
pub struct Maps {}

#[cfg(feature = "geo")]
#[derive(Clone, Default, State)]
pub struct Centre {}

#[cfg(feature = "geo")]
#[aggregate]
impl Accumulator for Centre {}

mod hidden {
    use millstream::prelude::*;

    #[derive(Clone, Debug, Record)]
    pub struct Cell {
        pub id: i64,
    }

    /// Sends.
    #[derive(Connector)]
    pub struct TileServer {}

    #[operator]
    impl Process for Tiler {}
}

/// No record.
pub struct Plain {
    pub id: i64,
}
