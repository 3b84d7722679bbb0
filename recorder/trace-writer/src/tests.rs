//! The name set against the standard library's.

use std::collections::HashSet;

use proptest::prelude::*;

use crate::names::NameSet;

proptest! {
    #[test]
    fn the_set_agrees_with_the_standard_one(seeds in prop::collection::vec(0_u16..2_000, 0..3_000)) {
        let names: Vec<String> = seeds.iter().map(|seed| format!("_Z{:x}", u64::from(*seed).pow(3))).collect();
        let (mut ours, mut theirs) = (NameSet::default(), HashSet::new());
        for name in &names {
            let known = match ours.look_up(name.as_bytes()) {
                Ok(()) => true,
                Err(hash) => {
                    prop_assert_eq!(ours.add(hash, name.as_bytes()), Ok(()));
                    false
                }
            };
            prop_assert_eq!(known, !theirs.insert(name.clone()));
        }
        prop_assert_eq!(ours.len(), theirs.len());
    }
}
