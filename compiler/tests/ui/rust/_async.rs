use millstream::prelude::*;

#[function(in_flight = 20, timeout = "5s", unordered)]
pub async fn country_of(ip: &str) -> Result<Option<String>, String> {
    Ok(None)
}

#[function(timeout = "5s")]
pub fn at_once(ip: &str) -> bool {
    true
}

#[function(in_flight = 0)]
pub async fn none_in_flight(ip: &str) -> bool {
    true
}

#[function(timeout = 5)]
pub async fn no_duration(ip: &str) -> bool {
    true
}

#[function(retries = 5)]
pub async fn no_retries(ip: &str) -> bool {
    true
}
