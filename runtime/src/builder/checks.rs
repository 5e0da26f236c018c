//! What values that a program gives must be. A wrong one is a mistake with its place in the program, told when the job starts: it is
//! not taken for another one.

use std::panic::Location;
use std::time::Duration;

use super::micros;
use super::parts::Parts;
use super::rows::origin;
use crate::connectors::OptionSpec;
use crate::help::distance;
use crate::options::Options;

impl Parts {
    /// A length of time, which must be more than none. In microseconds.
    pub(super) fn length(&mut self, what: &str, length: Duration, at: &Location<'_>) -> i64 {
        let micros = micros(length);
        if micros == 0 {
            self.mistake(&origin(at, what), &format!("{what} is {length:?}: it must be 1µs or more"));
        }
        micros
    }

    /// A size and the step that it is cut by: windows of steps would leave rows out, or be cut short, if it did not fit.
    pub(super) fn size_and_step(&mut self, size: Duration, step: Duration, at: &Location<'_>) -> (i64, i64) {
        let (size_micros, step_micros) =
            (self.length("the size of a window", size, at), self.length("the step of a window", step, at));
        if size_micros > 0 && step_micros > 0 && size_micros % step_micros != 0 {
            let why = match step_micros > size_micros {
                true => "is more than the size: rows would fall between windows",
                false => "does not divide the size",
            };
            let text = format!("the step of {step:?} does not fit windows of {size:?}: it {why}");
            self.mistake(&origin(at, "step"), &text);
        }
        (size_micros, step_micros)
    }

    /// A number that must be 1 or more.
    pub(super) fn some(&mut self, what: &str, number: u64, at: &Location<'_>) {
        if number == 0 {
            self.mistake(&origin(at, what), &format!("{what} is 0: it must be 1 or more"));
        }
    }

    /// A number of microseconds that must not be negative.
    pub(super) fn not_negative(&mut self, what: &str, micros: i64, at: &Location<'_>) {
        if micros < 0 {
            self.mistake(&origin(at, what), &format!("{what} is {micros} microseconds: it cannot be negative"));
        }
    }

    /// What checkpoints cannot have of which several are on their way at once.
    pub(super) fn excludes(&mut self, what: &str, is_there: bool, at: &Location<'_>) {
        if is_there {
            self.mistake(
                &origin(at, what),
                &format!("{what} and several checkpoints at once exclude each other: take one of them away"),
            );
        }
    }

    /// Options of a connector of the library: those that it does not have would be taken for left out.
    pub(super) fn known_options(&mut self, connector: &str, known: &[OptionSpec], options: &Options, at: &Location<'_>) {
        for name in options.names() {
            // The format is the type that the method is called with; its options come by this name.
            if name == "format" || known.iter().any(|option| option.name == name) {
                continue;
            }
            let near = known.iter().map(|option| (distance(option.name, name), option.name)).min();
            let hint = match near {
                Some((distance, near)) if distance <= 2 => format!("did you mean `{near}`?"),
                _ => format!("it has {}", known.iter().map(|option| option.name).collect::<Vec<_>>().join(", ")),
            };
            self.mistake(&origin(at, name), &format!("`{connector}` has no option `{name}`: {hint}"));
        }
    }
}
