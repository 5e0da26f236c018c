//! Names that last as long as the process, as those of generated jobs do: each is kept once, however often a job is built.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use crate::params::ParamSpec;

/// The name, kept.
pub(super) fn keep(name: &str) -> &'static str {
    static KEPT: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = kept.get(name) {
        return name;
    }
    let name: &'static str = name.to_owned().leak();
    kept.insert(name);
    name
}

/// The list, kept.
pub(super) fn keep_list(names: Vec<&'static str>) -> &'static [&'static str] {
    static KEPT: Mutex<BTreeMap<Vec<&'static str>, &'static [&'static str]>> = Mutex::new(BTreeMap::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(list) = kept.get(&names) {
        return list;
    }
    let list: &'static [&'static str] = names.clone().leak();
    kept.insert(names, list);
    list
}

/// The params, kept.
pub(super) fn keep_params(params: &[ParamSpec]) -> &'static [ParamSpec] {
    static KEPT: Mutex<Vec<&'static [ParamSpec]>> = Mutex::new(Vec::new());
    let mut kept = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(list) = kept.iter().find(|list| **list == params) {
        return list;
    }
    let list: &'static [ParamSpec] = params.to_vec().leak();
    kept.push(list);
    list
}
