//! Windows of the calendar: days, weeks, months, quarters and years, as clocks in a time zone show them.

use std::panic::Location;

use super::keyed::{RowTime, TimedStream};
use super::link::Link;
use super::names::keep;
use super::rows::{Row, origin};
use super::windows::{WindowKind, Windowed, WindowsBy, in_windows};
use crate::error::JobResult;
use crate::graph::{CalendarUnit, Window, WindowTime};
use crate::operator::Stage;
use crate::operators::{Aggregation, WindowAggregate};
use crate::record::Key;
use crate::time::Calendar;

/// Windows of the calendar.
#[derive(Clone, Copy, Debug)]
pub struct InCalendar {
    unit: CalendarUnit,
    zone: &'static str,
}

impl WindowKind for InCalendar {
    type Operator<A: Aggregation + 'static, N: Stage<A::In> + 'static> = WindowAggregate<A, Calendar, N>;

    fn operator<A: Aggregation + 'static>(&self, aggregation: A, time: WindowsBy) -> JobResult<WindowAggregate<A, Calendar>>
    where
        A::In: 'static,
    {
        Ok(in_windows(Calendar::new(self.unit, self.zone)?, aggregation, time))
    }

    fn with_late<A: Aggregation + 'static, N: Stage<A::In> + 'static>(
        &self,
        aggregation: A,
        allowed: i64,
        late: N,
    ) -> JobResult<WindowAggregate<A, Calendar, N>> {
        Ok(WindowAggregate::new(Calendar::new(self.unit, self.zone)?, aggregation).allow_late(allowed).with_late(late))
    }

    fn window(&self, time: WindowTime) -> Window {
        Window::Calendar { unit: self.unit, zone: self.zone.to_owned(), time }
    }
}

impl<T, L, K, F, W> TimedStream<T, L, K, F, W>
where
    T: Row,
    L: Link<T>,
    K: Key,
    F: Fn(&T) -> K + Clone + Send + Sync + 'static,
    W: RowTime<T>,
{
    /// Windows of a unit of the calendar, as clocks in this zone show it: `calendar(CalendarUnit::Day, "America/New_York")`. On days on which
    /// clocks are changed they are shorter or longer.
    #[track_caller]
    pub fn calendar(self, unit: CalendarUnit, zone: &str) -> Windowed<T, L, K, F, W, InCalendar> {
        if Calendar::new(unit, keep(zone)).is_err() {
            let text = format!("`{zone}` is no time zone: write a name of the tz database, such as `America/New_York`");
            self.parts().mistake(&origin(Location::caller(), "calendar"), &text);
        }
        self.windows(InCalendar { unit, zone: keep(zone) })
    }
}
