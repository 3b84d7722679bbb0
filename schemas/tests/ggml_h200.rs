//! The real recordings and map of testdata/ggml-h200, read with the loaders.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use kernrec_schemas::KernelName;
use kernrec_schemas::id::stable_form;
use kernrec_schemas::recording::{ProcessState, Recording};
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::symbol_map::SymbolMap;
use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Path, PathBuf};

fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/ggml-h200")
}

fn map_bytes() -> Vec<u8> {
    let file = fs_err::File::open(data().join("kernel_symbol_map.json.gz")).unwrap();
    let mut bytes = Vec::new();
    flate2::read::GzDecoder::new(file)
        .read_to_end(&mut bytes)
        .unwrap();
    bytes
}

#[test]
fn the_map_has_the_documented_objects_and_symbols() {
    let map = SymbolMap::load(&map_bytes()).unwrap();
    assert_eq!(map.objects.len(), 167);
    assert_eq!(
        map.objects.iter().filter(|object| object.device).count(),
        141
    );
    assert_eq!(
        map.objects
            .iter()
            .map(|object| object.symbols.len())
            .sum::<usize>(),
        6677
    );
    assert_eq!(map.distinct_symbols(), 6201);
}

#[test]
fn every_recording_reads_and_only_the_two_killed_steps_are_unclean() {
    let mut unclean = Vec::new();
    for job in fs_err::read_dir(data().join("recordings")).unwrap() {
        let job = job.unwrap().path();
        let sidecar = Sidecar::parse(&fs_err::read(job.join("kernrec.json")).unwrap()).unwrap();
        assert_eq!(sidecar.faults, Vec::<String>::new());
        for file in fs_err::read_dir(&job).unwrap() {
            let file = file.unwrap().path();
            if file.extension().is_none_or(|extension| extension != "txt") {
                continue;
            }
            let bytes = fs_err::read(&file).unwrap();
            let recording = Recording::read(&bytes);
            if recording.state != ProcessState::Clean {
                unclean.push((
                    sidecar.step_key.clone().unwrap().to_string(),
                    recording.state,
                ));
            }
        }
    }
    unclean.sort();
    let expected = [
        ("op-flash-attn-ext", ProcessState::NoFooter),
        ("torch-killed", ProcessState::NoFooter),
    ];
    assert_eq!(
        unclean,
        expected.map(|(step, state)| (step.to_owned(), state))
    );
}

#[test]
fn the_maps_canonical_bytes_say_the_same() {
    let map = SymbolMap::load(&map_bytes()).unwrap();
    let canonical = map.to_canonical();
    let again = SymbolMap::load(&canonical).unwrap();
    assert_eq!(again.to_canonical(), canonical);
    assert_eq!(again.distinct_symbols(), 6201);
    assert_eq!(again.objects.len(), 167);
}

#[test]
fn the_stable_form_touches_exactly_the_names_with_content_hashes_and_merges_none() {
    let map = SymbolMap::load(&map_bytes()).unwrap();
    let exact: BTreeSet<&str> = map
        .objects
        .iter()
        .flat_map(|object| &object.symbols)
        .map(KernelName::as_str)
        .collect();
    let stable: BTreeSet<_> = exact.iter().map(|name| stable_form(name)).collect();
    assert_eq!(stable.len(), exact.len());
    let touched = exact.iter().filter(|name| stable_form(name) != **name);
    assert_eq!(touched.count(), 364);
    let marked = exact.iter().filter(|name| name.contains("_INTERNAL_"));
    assert_eq!(marked.count(), 364);
}
