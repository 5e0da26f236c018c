//! People.

use super::columns::PersonColumn;
use super::event::NexmarkEvent;
use super::ids::{self, FIRST_ID};
use super::random::{Purpose, below, text};
use crate::record::Cell;
use crate::value::Str;

const FIRST_NAMES: [&str; 11] = ["Peter", "Paul", "Luke", "John", "Saul", "Vicky", "Kate", "Julie", "Sarah", "Deiter", "Walter"];

const LAST_NAMES: [&str; 9] = ["Shultz", "Abrams", "Spencer", "White", "Bartels", "Walton", "Smith", "Jones", "Noris"];

const CITIES: [&str; 10] =
    ["Phoenix", "Los Angeles", "San Francisco", "Boise", "Portland", "Bend", "Redmond", "Seattle", "Kent", "Cheyenne"];

const STATES: [&str; 6] = ["AZ", "CA", "ID", "OR", "WA", "WY"];

/// One column of a person.
pub(super) fn cell<'a>(event: &NexmarkEvent<'_>, column: PersonColumn) -> Cell<'a> {
    match column {
        PersonColumn::Id => Cell::Int((FIRST_ID + ids::people(event.number) - 1) as i64),
        PersonColumn::Name => {
            let mut name = Str::from(pick(&FIRST_NAMES, event.random.nth(Purpose::Name, 0)));
            name.push(' ');
            name.push_str(pick(&LAST_NAMES, event.random.nth(Purpose::Name, 1)));
            Cell::Str(name)
        }
        PersonColumn::EmailAddress => {
            let mut email = String::new();
            text(event.random, Purpose::Email, 0, 7, ' ', &mut email);
            let mut email = email.trim().to_owned();
            email.push('@');
            let mut host = String::new();
            text(event.random, Purpose::Email, 16, 5, ' ', &mut host);
            email.push_str(host.trim());
            email.push_str(".com");
            Cell::Str(Str::from(email))
        }
        PersonColumn::CreditCard => {
            let group = |index| below(event.random.nth(Purpose::CreditCard, index), 10_000);
            Cell::Str(Str::from(format!("{:04} {:04} {:04} {:04}", group(0), group(1), group(2), group(3))))
        }
        PersonColumn::City => Cell::Text(pick(&CITIES, event.draw(Purpose::City))),
        PersonColumn::State => Cell::Text(pick(&STATES, event.draw(Purpose::State))),
        PersonColumn::DateTime => Cell::Timestamp(event.time()),
        // What stands in the other columns has 58 bytes on average.
        PersonColumn::Extra => Cell::Str(event.extra::<192>(66, 200)),
    }
}

fn pick(words: &'static [&'static str], random: u64) -> &'static str {
    words.get(below(random, words.len() as u64) as usize).copied().unwrap_or_default()
}
