//! Documents of the size seen in the largest fleet: 234 steps, 10,447 symbols, 570 objects with about 300
//! dependencies each. Names have the lengths of testdata/ggml-h200 (mean 102, up to 472 bytes).

use kernrec_schemas::symbol_map::{MapObject, MapVersion, SymbolMap};
use kernrec_schemas::table::{KernelTable, Row, Shards, TableSource};
use kernrec_schemas::{
    Backend, BuildNumber, Commit, KernelName, RowBackend, StepKey, Timestamp, Variant,
};
use std::collections::{BTreeMap, BTreeSet};

const ROWS: u64 = 234;
const SYMBOLS: u64 = 10_447;
const OBJECTS: u64 = 570;
const DEPS: u64 = 300;
const HEADERS: u64 = 4_000;
const LARGEST_ROW: u64 = 750;

/// A table whose rows launch up to 750 of the kernels each.
pub(crate) fn table() -> KernelTable {
    let mut random = Random(1);
    let rows: BTreeMap<StepKey, Row> = (0..ROWS)
        .map(|step| {
            let kernels = (0..=random.below(LARGEST_ROW))
                .map(|_| u32::try_from(random.below(SYMBOLS)).unwrap())
                .collect();
            (
                StepKey::new(format!("gpu-step-{step}")).unwrap(),
                row(kernels),
            )
        })
        .collect();
    KernelTable {
        version: KernelTable::VERSION,
        source: TableSource {
            org: "vllm".to_owned(),
            pipeline: "ci".to_owned(),
            build: BuildNumber(12),
            commit: Some(commit()),
            recorded_at: Timestamp::from_unix(1_900_000_000).unwrap(),
        },
        names: (0..SYMBOLS).map(name).collect(),
        rows,
        faults: Vec::new(),
    }
}

fn row(kernels: Vec<u32>) -> Row {
    Row {
        jobs: 1,
        passed: true,
        complete: true,
        processes: 3,
        dropped: 0,
        shards: Shards::default(),
        kernels,
        backend: RowBackend::Known(Backend::Cuda),
        trace_complete: true,
        recording_available: true,
        health: None,
        reasons: BTreeSet::new(),
        variants: BTreeSet::new(),
    }
}

/// A map that spreads the symbols over its objects.
pub(crate) fn map() -> SymbolMap {
    let mut random = Random(2);
    let mut objects: Vec<MapObject> = (0..OBJECTS).map(|n| object(n, &mut random)).collect();
    for symbol in 0..SYMBOLS {
        let at = usize::try_from(symbol % OBJECTS).unwrap();
        objects[at].symbols.push(name(symbol));
    }
    SymbolMap {
        version: MapVersion::V2,
        backend: Backend::Cuda,
        commit: Some(commit()),
        variant: Variant::default(),
        cuda: Some("13.0".to_owned()),
        generated_at: None,
        incomplete: false,
        errors: Vec::new(),
        build_dirs: vec!["build".to_owned()],
        objects,
        reason: None,
        stats: None,
        tools: BTreeMap::new(),
        hipify_manifests: Vec::new(),
        offload_targets: Vec::new(),
    }
}

fn object(n: u64, random: &mut Random) -> MapObject {
    let source = format!("csrc/kernels/group_{}/implementation_{n}.cu", n % 17);
    let mut deps: Vec<String> = (0..DEPS).map(|_| header(random.below(HEADERS))).collect();
    deps.push(source.clone());
    MapObject {
        compiled_source: None,
        target: "_C".to_owned(),
        object: format!("CMakeFiles/_C.dir/{source}.o"),
        device: true,
        symbols: Vec::new(),
        deps: deps.into_iter().map(Into::into).collect(),
        offload_targets: Vec::new(),
        error: None,
        source,
    }
}

/// About 60 characters.
fn header(n: u64) -> String {
    format!(
        "third_party/cutlass/include/cute/arch/level_{}/header_{n}.hpp",
        n % 23
    )
}

fn name(n: u64) -> KernelName {
    let longer = if n.is_multiple_of(40) { 370 } else { n % 90 };
    let padding = "ELi64ELi128".repeat(usize::try_from(longer / 11).unwrap());
    KernelName::new(format!(
        "_ZN4vllm6kernel19implementation_{n:05}I6__halfLi{n}{padding}EEvPKT_PS2_iiif"
    ))
    .unwrap()
}

fn commit() -> Commit {
    Commit::new("0123456789abcdef0123456789abcdef01234567").unwrap()
}

/// A small generator with a fixed seed (Knuth's constants): the same documents on every machine.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}
