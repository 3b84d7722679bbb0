//! Names of two builds that differ in content hashes only compare equal, whatever surrounds the hashes.

use kernrec_schemas::id::stable_form;
use proptest::prelude::*;

/// One component as nvcc writes it, with the two hashes left to the caller.
fn component(mark: &str, file: &str, hashes: (&str, &str)) -> String {
    let inner = format!("{}_{}_{file}_{}", hashes.0, file.len(), hashes.1);
    match mark {
        "__nv_static_" => format!("{mark}{}__{inner}", inner.len() + 1),
        _ => format!("{mark}{inner}"),
    }
}

proptest! {
    #[test]
    fn only_the_hashes_are_ignored(
        (before, after) in ("[A-Za-z0-9]{0,10}", "[A-Za-z0-9]{0,10}"),
        mark in proptest::sample::select(vec!["_INTERNAL_", "_GLOBAL__N__", "__nv_static_"]),
        file in "[A-Za-z_][A-Za-z0-9_]{0,20}",
        hashes in proptest::array::uniform4("[0-9a-f]{8}"),
    ) {
        let [a, b, c, d] = &hashes;
        let one = format!("{before}{}{after}", component(mark, &file, (a, b)));
        let other = format!("{before}{}{after}", component(mark, &file, (c, d)));
        let blank = format!("{before}{}{after}", component(mark, &file, ("xxxxxxxx", "xxxxxxxx")));
        prop_assert_eq!(stable_form(&one), stable_form(&other));
        prop_assert_eq!(stable_form(&one), blank);
    }
}
