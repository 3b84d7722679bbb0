//! Objects whose device code is linked: each also depends on what the others' files say.

use super::entry::Entry;
use crate::cuda::DeviceLinks;
use std::collections::{BTreeMap, BTreeSet};

/// Adds to each entry the files of the objects that its relocatable device code takes symbols from, directly or
/// through others.
///
/// A kernel that calls a `__device__` function of another file changes with that file, though its own compilation
/// never read it. Several objects may offer one symbol (a file that two programs are built from): all of them count.
pub(crate) fn follow(entries: &mut [Entry]) {
    let offered = offered(entries);
    let direct: Vec<BTreeSet<usize>> = entries
        .iter()
        .map(|entry| providers(&entry.links, &offered))
        .collect();
    let own: Vec<_> = entries
        .iter()
        .map(|entry| entry.object.deps.clone())
        .collect();
    for (index, entry) in entries.iter_mut().enumerate() {
        let mut deps: BTreeSet<_> = entry.object.deps.iter().cloned().collect();
        for provider in reached(index, &direct) {
            deps.extend(own[provider].iter().cloned());
        }
        entry.object.deps = deps.into_iter().collect();
    }
}

/// Which entries offer each symbol that some entry needs.
fn offered(entries: &[Entry]) -> BTreeMap<String, Vec<usize>> {
    let mut offered: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for name in entries.iter().flat_map(|entry| &entry.links.needs) {
        offered.entry(name.clone()).or_default();
    }
    for (index, entry) in entries.iter().enumerate() {
        for name in &entry.links.offers {
            if let Some(providers) = offered.get_mut(name) {
                providers.push(index);
            }
        }
    }
    offered
}

/// A symbol that nobody offers is a library's: the device runtime, or one that was not built here.
fn providers(links: &DeviceLinks, offered: &BTreeMap<String, Vec<usize>>) -> BTreeSet<usize> {
    let needed = links.needs.iter().filter_map(|name| offered.get(name));
    needed.flatten().copied().collect()
}

fn reached(from: usize, direct: &[BTreeSet<usize>]) -> BTreeSet<usize> {
    let mut reached = BTreeSet::new();
    let mut open = vec![from];
    while let Some(index) = open.pop() {
        open.extend(direct[index].iter().filter(|next| reached.insert(**next)));
    }
    reached
}
