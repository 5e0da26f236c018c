//! What the state of an operator is kept by, and what it is made of: its key, its window and its aggregates, as texts that checkpoints carry.
//!
//! Types alone do not tell one key from another: state that was kept by `carrier` fits `origin` as well, and would be that of other
//! rows then. The comparison has to let pass what leaves the key the same data, so a key says beside its own text what it is computed
//! from (see [`JobGraph::follow_keys`](super::JobGraph::follow_keys)).

use std::collections::BTreeSet;
use std::fmt::{self, Display, Formatter};

/// What the state of an operator is kept by.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeptBy {
    /// The operator.
    pub uid: String,
    /// By input: a join has two.
    pub keys: Vec<KeyText>,
    /// The window, or the frame of `over`: `tumbling(1h)`. Empty: none.
    pub window: String,
    /// What is added up, or ranked, by its name in the state: `total` is `sum(v)`.
    pub values: Vec<(String, KeyText)>,
}

/// The key of an input, or what else is computed from its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KeyText {
    /// As the operator has it: `carrier, day`. Empty: not known, as a closure is not.
    pub text: String,
    /// The same over the columns of sources, one for each way by which rows come; empty: as the text.
    pub from: BTreeSet<String>,
}

/// How an operator of a job differs from what a checkpoint says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KeptOtherwise {
    /// Another key, in words: `its key was ..`.
    Key(String),
    /// Another window, or another frame.
    Window(String),
    /// Another value is added up under the same name.
    Value(String),
}

impl KeptBy {
    /// Of this operator. No key and no window yet.
    pub fn new(uid: &str) -> Self {
        KeptBy { uid: uid.to_owned(), ..KeptBy::default() }
    }

    /// With the key of the next input.
    #[must_use]
    pub fn key(mut self, text: &str, from: &[&str]) -> Self {
        self.keys.push(KeyText { text: text.to_owned(), from: from.iter().map(|&from| from.to_owned()).collect() });
        self
    }

    /// With a window.
    #[must_use]
    pub fn window(self, window: &str) -> Self {
        KeptBy { window: window.to_owned(), ..self }
    }

    /// With something that is added up under this name.
    #[must_use]
    pub fn value(mut self, name: &str, text: &str, from: &[&str]) -> Self {
        let from = from.iter().map(|&from| from.to_owned()).collect();
        self.values.push((name.to_owned(), KeyText { text: text.to_owned(), from }));
        self
    }

    /// How `now` differs from this, of which a checkpoint says that state was kept by it. None: not that anybody knows.
    pub fn otherwise(&self, now: &KeptBy) -> Option<KeptOtherwise> {
        if self.window != now.window && !self.window.is_empty() && !now.window.is_empty() {
            return Some(KeptOtherwise::Window(format!("it was kept by `{}`, and is kept by `{}` now", self.window, now.window)));
        }
        for (input, (old, new)) in self.keys.iter().zip(&now.keys).enumerate() {
            if !old.fits(new) {
                let whose = match (input, self.keys.len()) {
                    (_, 1) => "its key",
                    (0, _) => "the key of its first input",
                    _ => "the key of its second input",
                };
                return Some(KeptOtherwise::Key(format!("{whose} was {old}, and is {new} now")));
            }
        }
        // Two streams may give the same value two names on the way: then the text is another, and what it is computed from is not.
        let other = |(name, old): &(String, KeyText)| {
            let (_, new) = now.values.iter().find(|(new, _)| new == name)?;
            (old.text != new.text && !old.fits(new)).then(|| format!("its `{name}` was {old}, and is {new} now"))
        };
        self.values.iter().find_map(other).map(KeptOtherwise::Value)
    }
}

impl KeyText {
    fn is_known(&self) -> bool {
        !self.text.is_empty() || !self.from.is_empty()
    }

    /// What it is computed from.
    fn origins(&self) -> BTreeSet<&str> {
        match self.from.is_empty() {
            true => BTreeSet::from([self.text.as_str()]),
            false => self.from.iter().map(String::as_str).collect(),
        }
    }

    /// Whether state that was kept by this may be kept by `now`: each way that rows came by is still there, or others have gone.
    fn fits(&self, now: &KeyText) -> bool {
        if !self.is_known() || !now.is_known() {
            return true;
        }
        let (old, new) = (self.origins(), now.origins());
        old.is_subset(&new) || new.is_subset(&old)
    }
}

impl Display for KeyText {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if !self.is_known() {
            return f.write_str("not known");
        }
        let origins: Vec<String> = self.origins().iter().map(|origin| format!("`{origin}`")).collect();
        match (&*self.text, &*origins) {
            ("", origins) => f.write_str(&origins.join(" or ")),
            (text, [origin]) if *origin == format!("`{text}`") => f.write_str(origin),
            (text, origins) => write!(f, "`{text}` (that is {})", origins.join(" or ")),
        }
    }
}

/// ``key `carrier` over tumbling(1d)``
impl Display for KeptBy {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &*self.keys {
            [] => f.write_str("no key")?,
            [key] => write!(f, "key {key}")?,
            [first, others @ ..] => {
                write!(f, "keys {first}")?;
                others.iter().try_for_each(|key| write!(f, " and {key}"))?;
            }
        }
        if self.window.is_empty() { Ok(()) } else { write!(f, " over {}", self.window) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(text: &str, from: &[&str]) -> KeptBy {
        KeptBy::new("totals/aggregate/0").key(text, from)
    }

    fn key(old: &KeptBy, new: &KeptBy) -> Option<String> {
        match old.otherwise(new) {
            Some(KeptOtherwise::Key(text)) => Some(text),
            other => {
                assert_eq!(other, None);
                None
            }
        }
    }

    #[test]
    fn another_key_is_noticed_and_said() {
        assert_eq!(key(&by("k", &[]), &by("k", &[])), None);
        assert_eq!(key(&by("k", &[]), &by("k2", &[])).as_deref(), Some("its key was `k`, and is `k2` now"));
        // The same word for other data.
        assert_eq!(
            key(&by("k", &["raw"]), &by("k", &["raw2"])).as_deref(),
            Some("its key was `k` (that is `raw`), and is `k` (that is `raw2`) now")
        );
        // The order counts: the values are those of a tuple.
        assert!(key(&by("a, b", &[]), &by("b, a", &[])).is_some());
    }

    #[test]
    fn the_same_data_under_another_name_is_the_same_key() {
        assert_eq!(key(&by("k", &[]), &by("renamed", &["k"])), None);
        assert_eq!(key(&by("renamed", &["k"]), &by("k", &[])), None);
        assert_eq!(key(&by("a", &["k"]), &by("b", &["k"])), None);
    }

    #[test]
    fn ways_may_come_and_go_but_not_be_exchanged() {
        assert_eq!(key(&by("k", &[]), &by("k", &["k", "name"])), None);
        assert_eq!(key(&by("k", &["k", "name"]), &by("k", &[])), None);
        let other = key(&by("k", &["k", "name"]), &by("k", &["k", "other"]));
        assert_eq!(other.as_deref(), Some("its key was `k` (that is `k` or `name`), and is `k` (that is `k` or `other`) now"));
    }

    #[test]
    fn both_inputs_are_compared() {
        let join = |left: &str, right: &str| KeptBy::new("j/join/0").key(left, &[]).key(right, &[]);
        assert_eq!(key(&join("a", "b"), &join("a", "b")), None);
        assert_eq!(key(&join("a", "b"), &join("c", "b")).as_deref(), Some("the key of its first input was `a`, and is `c` now"));
        assert_eq!(key(&join("a", "b"), &join("a", "c")).as_deref(), Some("the key of its second input was `b`, and is `c` now"));
    }

    #[test]
    fn what_is_not_known_is_not_compared() {
        assert_eq!(key(&by("", &[]), &by("k", &[])), None);
        assert_eq!(key(&by("k", &[]), &by("", &[])), None);
        assert_eq!(by("k", &[]).otherwise(&by("k", &[]).window("tumbling(1h)")), None);
    }

    #[test]
    fn it_is_told_to_people() {
        assert_eq!(by("k", &[]).window("tumbling(1h)").to_string(), "key `k` over tumbling(1h)");
        assert_eq!(by("k", &["a", "b"]).to_string(), "key `k` (that is `a` or `b`)");
        assert_eq!(by("a", &[]).key("", &[]).to_string(), "keys `a` and not known");
        assert_eq!(KeptBy::new("o").window("last 10 rows").to_string(), "no key over last 10 rows");
    }

    #[test]
    fn another_value_under_the_same_name_is_noticed() {
        let of = |name: &str, text: &str, from: &[&str]| by("k", &[]).value(name, text, from);
        let said = "its `total` was `sum(v)`, and is `sum(w)` now".to_owned();
        assert_eq!(of("total", "sum(v)", &[]).otherwise(&of("total", "sum(w)", &[])), Some(KeptOtherwise::Value(said)));
        let said = "its `total` was `min(v)`, and is `max(v)` now".to_owned();
        assert_eq!(of("total", "min(v)", &[]).otherwise(&of("total", "max(v)", &[])), Some(KeptOtherwise::Value(said)));
        // Another name on the way, and another computation before it.
        assert_eq!(of("total", "sum(v)", &[]).otherwise(&of("total", "sum(amount)", &["sum(v)"])), None);
        assert_eq!(of("total", "sum(v)", &[]).otherwise(&of("total", "sum(v)", &["sum(v * 2)"])), None);
        // One that comes or goes is for the types of the state.
        assert_eq!(of("total", "sum(v)", &[]).otherwise(&of("least", "min(v)", &[])), None);
    }

    #[test]
    fn another_window_is_noticed() {
        let (old, new) = (by("k", &[]).window("tumbling(1h)"), by("k", &[]).window("tumbling(2h)"));
        let said = "it was kept by `tumbling(1h)`, and is kept by `tumbling(2h)` now".to_owned();
        assert_eq!(old.otherwise(&new), Some(KeptOtherwise::Window(said)));
    }
}
