//! Records as a fetcher leaves them: opened, damaged, missing.

use crate::common::{DAY, ago, ask_about, cuda, now, policy, reason};
use crate::function_world::python;
use kernrec_schemas::installed::{
    InstalledFile, InstalledParts, InstalledRecord, Origin, Stamp, StoreLayout, file_name,
};
use kernrec_schemas::manifest::{Counts, ROLE_FUNCTION_TABLE, ROLE_SYMBOL_MAP, ROLE_TABLE};
use kernrec_schemas::table::TableSource;
use kernrec_schemas::{Backend, Commit, Digest, Generation, Pipeline, Timestamp};
use kernrec_select::{Change, FunctionRecord, Pair, Reason, Record, open_records};
use kernrec_store::artifact;
use kernrec_store::signing::TrustedKeys;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

const FOLDER: &str = ".records/0123456789abcdef";

/// Installs a CUDA pair by hand, in the layout every fetcher leaves.
fn install(out: &Path, pair: &Pair) {
    let documents = [
        (ROLE_TABLE, pair.table.to_canonical()),
        (ROLE_SYMBOL_MAP, pair.maps[0].to_canonical()),
    ];
    let about = About {
        backend: Backend::Cuda,
        source: &pair.table.source,
        published_at: pair.published_at,
        is_revoked: pair.revoked,
    };
    install_files(out, &documents, &about);
}

/// The same of a function record.
fn install_functions(out: &Path, record: &FunctionRecord) {
    let documents = [(ROLE_FUNCTION_TABLE, record.table.to_canonical())];
    let about = About {
        backend: Backend::Python,
        source: &record.table.source,
        published_at: record.published_at,
        is_revoked: record.revoked,
    };
    install_files(out, &documents, &about);
}

struct About<'a> {
    backend: Backend,
    source: &'a TableSource,
    published_at: Option<Timestamp>,
    is_revoked: bool,
}

fn install_files(out: &Path, documents: &[(&str, Vec<u8>)], about: &About<'_>) {
    let folder = out.join(FOLDER);
    fs_err::create_dir_all(&folder).unwrap();
    let files: BTreeMap<String, InstalledFile> = documents
        .iter()
        .map(|(role, bytes)| {
            artifact::write(&folder.join(file_name(role).unwrap()), bytes).unwrap();
            let stored = Stamp {
                size: 0,
                modified_ns: 0,
            };
            (
                role.to_string(),
                InstalledFile {
                    digest: Digest::of(bytes),
                    size: bytes.len() as u64,
                    stored,
                },
            )
        })
        .collect();
    let mut record = InstalledRecord::new(InstalledParts {
        pipeline: Pipeline::new("ci").unwrap(),
        backend: about.backend,
        commit: Commit::new("c0de").unwrap(),
        build: about.source.build,
        recorded_at: about.source.recorded_at,
        manifest: Digest::from_hex(&format!("0123456789abcdef{}", "0".repeat(48))).unwrap(),
        counts: Counts::default(),
        files,
        twins: BTreeMap::new(),
        origin: Origin {
            layout: StoreLayout::Native,
            url: "file:///store".to_owned(),
            version: "v".to_owned(),
            generation: Generation::FIRST,
            current: true,
            signed_by: None,
            published_at: about.published_at,
            fetched_at: now(),
        },
        verified: BTreeSet::new(),
    });
    record.revoked = about.is_revoked.then(now);
    artifact::write(&folder.join("record.json"), &record.to_bytes()).unwrap();
    std::os::unix::fs::symlink(FOLDER, out.join(about.backend.as_str())).unwrap();
}

fn nothing() -> BTreeSet<Backend> {
    BTreeSet::new()
}

fn opened(out: &Path, asked: &BTreeSet<Backend>) -> Vec<Record> {
    open_records(out, asked, &TrustedKeys::default())
}

fn unavailable(record: &Record) -> (Backend, &str) {
    match record {
        Record::Unavailable(gone) => (gone.backend, &gone.reason),
        Record::Ready(_) | Record::Functions(_) => panic!("expected an unavailable record"),
    }
}

#[test]
fn an_installed_pair_is_read_as_it_was_published() {
    let out = tempfile::tempdir().unwrap();
    install(out.path(), &cuda());
    let records = opened(out.path(), &nothing());
    let [Record::Ready(pair)] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!(**pair, cuda());
    assert_eq!(pair.published_at, ago(DAY));
}

#[test]
fn an_installed_function_record_is_read_as_it_was_published() {
    let out = tempfile::tempdir().unwrap();
    install_functions(out.path(), &python());
    let records = opened(out.path(), &nothing());
    let [Record::Functions(record)] = records.as_slice() else {
        panic!("{records:?}")
    };
    assert_eq!(**record, python());
    let table = out.path().join("python/function_table.json.zst");
    fs_err::write(table, b"other").unwrap();
    let records = opened(out.path(), &nothing());
    assert_eq!(unavailable(&records[0]).0, Backend::Python);
}

#[test]
fn a_record_that_a_fetch_saw_revoked_only_adds() {
    let out = tempfile::tempdir().unwrap();
    install(
        out.path(),
        &Pair {
            revoked: true,
            ..cuda()
        },
    );
    let change = Change::of_files(["a.cu"]).unwrap();
    let report = ask_about(&opened(out.path(), &nothing()), &change, policy());
    assert_eq!(
        reason(&report, "runs-a"),
        Reason::RowLaunchedAKernelFromAChangedFile
    );
    assert_eq!(reason(&report, "runs-b"), Reason::RecordRevoked);
}

#[test]
fn a_damaged_pair_is_unavailable() {
    let out = tempfile::tempdir().unwrap();
    install(out.path(), &cuda());
    let table: PathBuf = out.path().join("cuda").join(file_name(ROLE_TABLE).unwrap());
    let mut bytes = fs_err::read(&table).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    artifact::write(&table.with_extension("raw"), &bytes).unwrap();
    fs_err::remove_file(&table).unwrap();
    fs_err::hard_link(table.with_extension("raw"), &table).unwrap();
    let records = opened(out.path(), &nothing());
    assert_eq!(
        unavailable(&records[0]),
        (Backend::Cuda, "installed-damaged")
    );
}

#[test]
fn a_backend_asked_for_and_never_installed_is_unavailable() {
    let out = tempfile::tempdir().unwrap();
    install(out.path(), &cuda());
    let records = opened(out.path(), &BTreeSet::from([Backend::Rocm]));
    assert!(
        matches!(records[0], Record::Ready(_)),
        "what is installed counts without being asked for"
    );
    assert_eq!(unavailable(&records[1]), (Backend::Rocm, "never-installed"));
}

#[test]
fn a_folder_that_no_fetch_made_is_unavailable() {
    let out = tempfile::tempdir().unwrap();
    fs_err::create_dir(out.path().join("rocm")).unwrap();
    let records = opened(out.path(), &nothing());
    assert_eq!(unavailable(&records[0]), (Backend::Rocm, "not-ours"));
    assert!(opened(&out.path().join("missing"), &nothing()).is_empty());
}
