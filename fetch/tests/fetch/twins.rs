//! The names of the existing system, kept beside ours.

use crate::support::{Draft, World, assert_kept, map, overwrite, reason};
use flate2::read::GzDecoder;
use kernrec_fetch::{BackendReport, Backends, Status};
use kernrec_schemas::{Backend, Variant};
use std::io::Read;
use std::path::Path;

const NAMES: [&str; 2] = ["kernel_table.json.gz", "kernel_symbol_map.json.gz"];

fn with_names(world: &World) -> BackendReport {
    world.one_with(|options| options.upstream_names = true)
}

/// Reads a file as the existing readers do: gzip and JSON, nothing else.
fn json(path: &Path) -> serde_json::Value {
    serde_json::from_reader(GzDecoder::new(fs_err::File::open(path).unwrap())).unwrap()
}

fn assert_names(world: &World, commit: &str) {
    let table = json(&world.out.join(NAMES[0]));
    let map = json(&world.out.join(NAMES[1]));
    assert_eq!(table["source"]["commit"], commit);
    assert_eq!(map["commit"], commit);
}

fn published() -> World {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 1);
    world
}

#[test]
fn the_names_are_links_through_the_backends_link() {
    let world = published();
    assert_eq!(with_names(&world).status, Status::Installed);
    for name in NAMES {
        let target = fs_err::read_link(world.out.join(name)).unwrap();
        assert_eq!(target, Path::new("cuda").join(name));
    }
    assert_names(&world, "aaaa");
    let report = with_names(&world);
    assert_eq!(
        (report.status, report.bytes_received),
        (Status::Unchanged, 0)
    );
}

#[test]
fn the_twins_hold_exactly_the_documents() {
    let world = published();
    with_names(&world);
    let record = world.open().unwrap().record;
    let mut bytes = Vec::new();
    let file = fs_err::File::open(world.out.join(NAMES[0])).unwrap();
    GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
    assert_eq!(
        kernrec_schemas::Digest::of(&bytes),
        record.files["table"].digest
    );
}

#[test]
fn rocm_has_names_of_its_own() {
    let world = published();
    world.publish(Backend::Rocm, "cccc", 1);
    let mut options = world.options();
    options.backends = Backends::All;
    options.upstream_names = true;
    world.fetch_with(&options);
    assert_names(&world, "aaaa");
    let table = json(&world.out.join("kernel_table.rocm.json.gz"));
    assert_eq!(table["source"]["commit"], "cccc");
    let map = json(&world.out.join("kernel_symbol_map.rocm.json.gz"));
    assert_eq!(map["backend"], "rocm");
}

#[test]
fn a_record_installed_without_twins_gets_them_without_a_download() {
    let world = published();
    world.fetch();
    let report = with_names(&world);
    assert_eq!(
        (report.status, report.bytes_received),
        (Status::Unchanged, 0)
    );
    assert_names(&world, "aaaa");
    assert_eq!(world.open().unwrap().record.twins.len(), 2);
}

#[test]
fn the_names_follow_a_newer_record_whoever_fetches_it() {
    let world = published();
    with_names(&world);
    world.publish(Backend::Cuda, "bbbb", 2);
    assert_eq!(world.fetch().status, Status::Installed);
    assert_names(&world, "bbbb");
}

#[test]
fn a_damaged_twin_is_made_again() {
    let world = published();
    with_names(&world);
    overwrite(&world.folder().join(NAMES[0]), b"rubbish");
    assert_eq!(with_names(&world).status, Status::Unchanged);
    assert_names(&world, "aaaa");
    fs_err::remove_file(world.out.join(NAMES[1])).unwrap();
    with_names(&world);
    assert_names(&world, "aaaa");
}

#[test]
fn a_named_variant_has_no_upstream_name() {
    let world = published();
    with_names(&world);
    let mut draft = Draft::new(Backend::Cuda, "bbbb", 2);
    let variant = Variant::new("cuda12").unwrap();
    draft
        .maps
        .insert(variant, map(Backend::Cuda, "bbbb", "cuda12"));
    world.publish_draft(draft);
    let report = with_names(&world);
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "variant-not-representable",
        "aaaa",
    );
    assert_names(&world, "aaaa");
    // Not asked for, the names are only kept up where that is possible: here they lead nowhere.
    assert_eq!(world.fetch().status, Status::Installed);
    assert!(!world.out.join(NAMES[0]).exists());
    let report = with_names(&world);
    assert_kept(
        &world,
        &report,
        Status::Refused,
        "variant-not-representable",
        "bbbb",
    );
}

#[test]
fn files_of_the_existing_system_are_left_alone() {
    for name in NAMES {
        let world = published();
        fs_err::create_dir(&world.out).unwrap();
        overwrite(&world.out.join(name), b"theirs");
        let report = with_names(&world);
        assert_eq!(
            (report.status, reason(&report)),
            (Status::Failed, "not-ours")
        );
        assert_eq!(fs_err::read(world.out.join(name)).unwrap(), b"theirs");
        assert!(!world.out.join("cuda").exists());
    }
}
