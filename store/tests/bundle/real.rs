//! The 129 real jobs of testdata/ggml-h200.

use crate::common::{decompress, names};
use kernrec_schemas::Digest;
use kernrec_store::bundle::{self, Found, OriginLayout, PackOptions, PackedBundle};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

fn recordings() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/ggml-h200/recordings")
}

fn pack_all(found: &Found, out: &Path) -> Vec<PackedBundle> {
    let pack = |job| bundle::pack(job, out, &PackOptions::default()).unwrap();
    found.jobs.iter().map(pack).collect()
}

/// Every file of a folder by name.
fn files(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let read = |name: String| {
        let content = fs_err::read(dir.join(&name)).unwrap();
        (name, content)
    };
    names(dir).into_iter().map(read).collect()
}

#[test]
fn every_job_is_found_with_its_step() {
    let found = bundle::job_folders(&recordings()).unwrap();
    assert_eq!(found.jobs.len(), 129);
    assert!(found.bundles.is_empty() && found.empty.is_empty() && found.ignored.is_empty());
    let steps: BTreeSet<_> = found
        .jobs
        .iter()
        .map(|job| job.meta.step_key.clone())
        .collect();
    assert_eq!(steps.len(), 129);
    for job in &found.jobs {
        assert_eq!(job.meta.layout, OriginLayout::InBuild);
        let folder = job.path.file_name().unwrap().to_str().unwrap();
        assert_eq!(job.meta.job_id.as_str(), folder);
    }
}

#[test]
fn packed_twice_and_read_back() {
    let dir = tempfile::tempdir().unwrap();
    let found = bundle::job_folders(&recordings()).unwrap();
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    let packed = pack_all(&found, &first);
    pack_all(&found, &second);
    let bundles = files(&first);
    assert_eq!(bundles.len(), 129);
    assert!(
        bundles == files(&second),
        "the same jobs give the same bytes"
    );

    for (job, packed) in found.jobs.iter().zip(&packed) {
        let mut expected = files(&job.path);
        expected.insert("bundle.json".to_owned(), job.meta.to_bytes());
        let mut got = BTreeMap::new();
        let summary = bundle::read_file(&packed.path, &mut |name, content| {
            got.insert(name.to_owned(), content.to_vec());
        });
        let summary = summary.unwrap();
        assert!(got == expected, "{}", packed.path.display());
        assert_eq!(summary.meta, job.meta);
        assert_eq!((summary.digest, summary.size), (packed.digest, packed.size));
        let archive = decompress(&fs_err::read(&packed.path).unwrap());
        assert_eq!(Digest::of(&archive), packed.digest);
    }

    let again = bundle::job_folders(&first).unwrap();
    assert_eq!(again.bundles.len(), 129);
    assert!(again.jobs.is_empty());
}

#[test]
fn another_tar_reader_reads_it() {
    let dir = tempfile::tempdir().unwrap();
    let found = bundle::job_folders(&recordings()).unwrap();
    let job = &found.jobs[0];
    let packed = bundle::pack(job, dir.path(), &PackOptions::default()).unwrap();
    let archive = decompress(&fs_err::read(packed.path).unwrap());
    let mut archive = tar::Archive::new(&archive[..]);
    let mut seen = Vec::new();
    for entry in archive.entries().unwrap() {
        let entry = entry.unwrap();
        assert_eq!(entry.header().entry_type(), tar::EntryType::Regular);
        seen.push(entry.path().unwrap().display().to_string());
    }
    let mut expected = names(&job.path);
    expected.push("bundle.json".to_owned());
    expected.sort();
    assert_eq!(seen, expected);
}
