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
pub async fn never_fails(ip: &str) -> bool {
    true
}

#[function(retries = 0)]
pub async fn never_again(ip: &str) -> Result<bool, String> {
    Ok(true)
}

#[function(backoff = "1s")]
pub async fn no_retries(ip: &str) -> Result<bool, String> {
    Ok(true)
}

#[function(retries = 3, backoff = 1)]
pub async fn no_pause(ip: &str) -> Result<bool, String> {
    Ok(true)
}

#[function(tries = 3)]
pub async fn unknown(ip: &str) -> bool {
    true
}

#[function(retries = 3, backoff = "1s")]
pub async fn countries_of(ip: &str) -> Result<Vec<String>, String> {
    Ok(Vec::new())
}
