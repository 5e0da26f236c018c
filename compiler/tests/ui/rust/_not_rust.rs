#[function]
pub fn country_of(ip: &str) -> Option<String> {
    lookup(ip
}
