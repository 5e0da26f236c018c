//! Keeps sources together in event time: none of a group runs ahead of the slowest by more than it may.
//!
//! Each reader shows how far it has come. Every so often the least of a group, and what each may be ahead of it, is told to the
//! readers, which pause the splits that are further. A reader that is idle or has ended counts for nothing, nor does one
//! that has not had a row yet.

use std::collections::BTreeMap;
use std::time::Duration;

use super::sources::Mailboxes;
use crate::chain::AlignmentMember;
use crate::seam::{Instant, until};
use crate::task::TaskMessage;

/// The first time is earlier: nobody reads on before it.
const FIRST: Duration = Duration::from_millis(20);

/// The groups of a job.
#[derive(Debug, Default)]
pub(super) struct Alignment {
    groups: BTreeMap<String, Group>,
}

#[derive(Debug)]
struct Group {
    every: Duration,
    next: Instant,
    /// With the limit that was told last.
    members: Vec<(AlignmentMember, Option<i64>)>,
}

impl Alignment {
    #[cfg(test)]
    fn new(members: Vec<AlignmentMember>) -> Self {
        let mut alignment = Alignment::default();
        alignment.join(members);
        alignment
    }

    /// These have begun to read.
    pub(super) fn join(&mut self, members: Vec<AlignmentMember>) {
        let next = Instant::now() + FIRST;
        for member in members {
            let every = member.every;
            let group = self.groups.entry(member.group.clone()).or_insert(Group { every, next, members: Vec::new() });
            group.every = group.every.min(every);
            group.next = group.next.min(next);
            group.members.push((member, None));
        }
    }

    /// The readers of these chains are no more: nobody waits for them.
    pub(super) fn leave(&mut self, chains: &[usize]) {
        for group in self.groups.values_mut() {
            group.members.retain(|(member, _)| !chains.contains(&member.chain));
        }
    }

    /// Waits until a group is due. Cancel safe.
    pub(super) async fn due(&self) {
        until(self.groups.values().map(|group| group.next).min()).await;
    }

    /// Tells the readers of the groups that are due how far they may go.
    pub(super) fn announce(&mut self, mailboxes: &Mailboxes) {
        let now = Instant::now();
        for group in self.groups.values_mut().filter(|group| group.next <= now) {
            group.next = now + group.every;
            for (chain, subtask, limit) in group.limits() {
                if let Some(mailbox) = mailboxes[chain].get(subtask as usize) {
                    let _ = mailbox.send(TaskMessage::Align(limit));
                }
            }
        }
    }
}

impl Group {
    /// The limits that have changed: chain, subtask, event time.
    fn limits(&mut self) -> Vec<(usize, u32, i64)> {
        let reported = self.members.iter().map(|(member, _)| member.reader.read()).filter(|&time| time > i64::MIN);
        let Some(slowest) = reported.min() else { return Vec::new() };
        let mut limits = Vec::new();
        for (member, told) in &mut self.members {
            let limit = slowest.saturating_add(member.within);
            if told.replace(limit) != Some(limit) {
                limits.push((member.chain, member.subtask, limit));
            }
        }
        limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chain::AlignedReader;

    fn member(group: &str, chain: usize, within: i64) -> AlignmentMember {
        let every = Duration::from_secs(1);
        AlignmentMember { group: group.to_owned(), within, every, chain, subtask: 0, reader: AlignedReader::new() }
    }

    fn limits(alignment: &mut Alignment, group: &str) -> Vec<(usize, u32, i64)> {
        alignment.groups.get_mut(group).unwrap().limits()
    }

    #[test]
    fn nobody_is_further_ahead_of_the_slowest_than_it_may_be() {
        let members = [member("a", 0, 10), member("a", 1, 20), member("b", 2, 5)];
        let readers: Vec<_> = members.iter().map(|member| member.reader.clone()).collect();
        let mut alignment = Alignment::new(members.into());
        assert_eq!(limits(&mut alignment, "a"), [], "nobody has had a row");
        readers[0].report(100);
        assert_eq!(limits(&mut alignment, "a"), [(0, 0, 110), (1, 0, 120)]);
        readers[1].report(50);
        assert_eq!(limits(&mut alignment, "a"), [(0, 0, 60), (1, 0, 70)]);
        assert_eq!(limits(&mut alignment, "a"), [], "the same again");
        readers[1].report(i64::MAX);
        assert_eq!(limits(&mut alignment, "a"), [(0, 0, 110), (1, 0, 120)], "idle or at its end");
        readers[0].report(i64::MAX);
        assert_eq!(limits(&mut alignment, "a"), [(0, 0, i64::MAX), (1, 0, i64::MAX)]);
        assert_eq!(limits(&mut alignment, "b"), []);
    }

    #[test]
    fn nobody_waits_for_a_reader_that_is_no_more() {
        let members = [member("a", 0, 10), member("a", 1, 20)];
        let readers: Vec<_> = members.iter().map(|member| member.reader.clone()).collect();
        let mut alignment = Alignment::new(members.into());
        readers[0].report(100);
        readers[1].report(50);
        assert_eq!(limits(&mut alignment, "a"), [(0, 0, 60), (1, 0, 70)]);
        alignment.leave(&[1]);
        assert_eq!(limits(&mut alignment, "a"), [(0, 0, 110)]);
        // It begins anew, further back.
        let again = member("a", 1, 20);
        again.reader.report(30);
        alignment.join(vec![again]);
        assert_eq!(limits(&mut alignment, "a"), [(0, 0, 40), (1, 0, 50)]);
    }
}
