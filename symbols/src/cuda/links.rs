//! What the device linker joins: symbols that one object's device code takes from another's.

use std::collections::BTreeSet;

/// The device symbols by which relocatable device code hangs together across objects.
///
/// A kernel that calls a `__device__` function of another file holds none of its code, and yet does what that file
/// says: a map has to know.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DeviceLinks {
    /// Functions and variables that are used and not defined.
    pub needs: BTreeSet<String>,
    /// Functions, kernels and variables that other objects can use.
    pub offers: BTreeSet<String>,
}

/// Where the names of a device section go.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) kernels: &'a mut BTreeSet<String>,
    /// Only relocatable code is linked with another object's.
    pub(crate) links: Option<&'a mut DeviceLinks>,
}

impl Found<'_> {
    pub(crate) fn kernel(&mut self, name: &str) {
        add(self.kernels, name);
    }

    pub(crate) fn needed(&mut self, name: &[u8]) {
        if let Some(links) = &mut self.links {
            add(&mut links.needs, &String::from_utf8_lossy(name));
        }
    }

    pub(crate) fn offered(&mut self, name: &[u8]) {
        if let Some(links) = &mut self.links {
            add(&mut links.offers, &String::from_utf8_lossy(name));
        }
    }
}

/// Each architecture repeats the names of the first.
fn add(names: &mut BTreeSet<String>, name: &str) {
    if !names.contains(name) {
        names.insert(name.to_owned());
    }
}
