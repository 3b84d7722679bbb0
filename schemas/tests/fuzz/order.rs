//! Canonical bytes do not depend on the order in which things came.

use kernrec_schemas::KernelName;
use kernrec_schemas::symbol_map::{MapObject, SymbolMap};
use kernrec_schemas::table::KernelTable;
use proptest::prelude::*;
use serde_json::json;

const NAMES: [&str; 6] = ["a", "b", "_Zc", "d\u{e9}", "e f", "g"];

fn table(names: &[&str], rows: &[Vec<&str>]) -> KernelTable {
    let index = |name: &&str| names.iter().position(|one| one == name).unwrap();
    let rows: serde_json::Map<String, serde_json::Value> = rows
        .iter()
        .enumerate()
        .map(|(step, kernels)| {
            let kernels: Vec<usize> = kernels.iter().map(index).collect();
            (
                format!("step-{step}"),
                json!({"jobs":1,"passed":true,"complete":true,"processes":1,"dropped":0,
                "kernels":kernels,"backend":"cuda","trace_complete":true}),
            )
        })
        .collect();
    let document = json!({"version":3,"names":names,"rows":rows,
        "source":{"build":1,"commit":"c","recorded_at":"2030-01-01T00:00:00Z"}});
    KernelTable::parse(document.to_string().as_bytes()).unwrap()
}

fn objects() -> impl Strategy<Value = Vec<MapObject>> {
    let symbols = proptest::sample::subsequence(NAMES.to_vec(), 0..=NAMES.len());
    let deps = proptest::sample::subsequence(vec!["a.cu", "b.h", "c.h"], 0..=3);
    let object = ("[a-c]\\.cu", symbols.prop_shuffle(), deps.prop_shuffle()).prop_map(
        |(source, symbols, deps)| MapObject {
            source,
            compiled_source: None,
            target: String::new(),
            object: String::new(),
            device: true,
            symbols: symbols
                .into_iter()
                .map(|name| KernelName::new(name).unwrap())
                .collect(),
            deps: deps.into_iter().map(Into::into).collect(),
            offload_targets: Vec::new(),
            error: None,
        },
    );
    proptest::collection::vec(object, 0..5)
}

proptest! {
    #[test]
    fn of_names_in_a_table(
        names in Just(NAMES.to_vec()).prop_shuffle(),
        rows in proptest::collection::vec(
            proptest::sample::subsequence(NAMES.to_vec(), 0..=NAMES.len()).prop_shuffle(), 1..4),
    ) {
        let sorted: Vec<Vec<&str>> = rows
            .iter()
            .map(|row| NAMES.into_iter().filter(|name| row.contains(name)).collect())
            .collect();
        let bytes = table(&names, &rows).to_canonical();
        prop_assert_eq!(&bytes, &table(&NAMES, &sorted).to_canonical());
        prop_assert_eq!(KernelTable::parse(&bytes).unwrap().to_canonical(), bytes);
    }

    #[test]
    fn of_objects_symbols_and_deps_in_a_map((objects, shuffled) in objects().prop_flat_map(|objects| {
        (Just(objects.clone()), Just(objects).prop_shuffle())
    })) {
        let empty = br#"{"version":2,"backend":"rocm"}"#;
        let map = SymbolMap::parse(empty).unwrap();
        let one = SymbolMap { objects: sorted(objects), ..map.clone() }.to_canonical();
        let other = SymbolMap { objects: shuffled, ..map }.to_canonical();
        prop_assert_eq!(&one, &other);
        prop_assert_eq!(SymbolMap::parse(&one).unwrap().to_canonical(), one);
    }
}

fn sorted(mut objects: Vec<MapObject>) -> Vec<MapObject> {
    for object in &mut objects {
        object.symbols.sort();
        object.deps.sort();
    }
    objects
}
