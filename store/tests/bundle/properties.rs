//! What holds for every job and for every sequence of bytes.

use crate::common::{Entries, canonical, compress, decompress, job, read};
use kernrec_store::bundle::{self, BundleError, PackOptions};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::LazyLock;

/// The fuzz target: any bytes are refused with a reason, or are the one form of what they hold.
fn reader_takes_only_the_canonical_form(bytes: &[u8]) {
    match read(bytes) {
        (Ok(summary), entries) => {
            let archive = canonical(&entries);
            assert_eq!(summary.size, archive.len() as u64);
            assert_eq!(summary.digest, kernrec_schemas::Digest::of(&archive));
        }
        (Err(error), _) => {
            assert!(!error.reason().is_empty());
            assert!(!error.to_string().contains('\n'));
        }
    }
}

/// Name and content of every kept bundle.
static CORPUS: LazyLock<Vec<(String, Vec<u8>)>> = LazyLock::new(|| {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/bundle");
    let mut corpus: Vec<_> = fs_err::read_dir(dir)
        .unwrap()
        .map(|item| item.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "zst"))
        .map(|path| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs_err::read(path).unwrap())
        })
        .collect();
    corpus.sort();
    corpus
});

/// The archives in those that are whole frames of no great size.
static ARCHIVES: LazyLock<Vec<Vec<u8>>> = LazyLock::new(|| {
    let archive = |bytes: &[u8]| {
        let mut archive = Vec::new();
        let decoder = zstd::Decoder::new(bytes).ok()?;
        decoder.take(LARGE).read_to_end(&mut archive).ok()?;
        ((archive.len() as u64) < LARGE).then_some(archive)
    };
    CORPUS
        .iter()
        .filter_map(|(_, bytes)| archive(bytes))
        .collect()
});
const LARGE: u64 = 64 * 1024;

#[test]
fn every_bundle_of_the_corpus_is_refused_or_taken_as_its_name_says() {
    let corpus = &*CORPUS;
    assert!(corpus.len() >= 40, "the corpus is gone");
    for (name, bytes) in corpus {
        let expected = name.split("--").next().unwrap();
        let result = read(bytes).0;
        let found = result
            .as_ref()
            .map_or_else(BundleError::reason, |_| "taken");
        assert_eq!(found, expected, "{name}");
        reader_takes_only_the_canonical_form(bytes);
    }
}

fn job_files() -> impl Strategy<Value = BTreeMap<String, Vec<u8>>> {
    let content = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..1100),
        "(_Z[0-9]{1,2}[a-z]{1,20}v\n){0,40}".prop_map(String::into_bytes),
    ];
    let name = "kern\\.[ -.0-~é]{0,12}\\.txt";
    let recordings = prop::collection::btree_map(name, content, 1..12);
    (recordings, prop::option::of(any::<Vec<u8>>())).prop_map(|(mut files, sidecar)| {
        files.extend(sidecar.map(|sidecar| ("kernrec.json".to_owned(), sidecar)));
        files
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_packed_is_read_back(files in job_files()) {
        let dir = tempfile::tempdir().unwrap();
        let pairs: Vec<_> = files.iter().map(|(n, c)| (n.as_str(), c.as_slice())).collect();
        let job = job(&dir.path().join("job"), &pairs);
        let packed = bundle::pack(&job, &dir.path().join("out"), &PackOptions::default()).unwrap();
        let bytes = fs_err::read(&packed.path).unwrap();
        let (summary, entries) = read(&bytes);
        let summary = summary.unwrap();
        prop_assert_eq!(&summary.meta, &job.meta);
        prop_assert_eq!((summary.digest, summary.size), (packed.digest, packed.size));
        prop_assert_eq!(decompress(&bytes), canonical(&entries));
        let mut expected = files;
        expected.insert("bundle.json".to_owned(), job.meta.to_bytes());
        prop_assert_eq!(entries, expected.into_iter().collect::<Entries>());
    }

    #[test]
    fn the_order_in_which_files_were_made_leaves_no_trace(files in job_files(), turn in 0..12_usize) {
        let dir = tempfile::tempdir().unwrap();
        let mut pairs: Vec<_> = files.iter().map(|(n, c)| (n.as_str(), c.as_slice())).collect();
        let mut results = Vec::new();
        for place in ["a", "b"] {
            let job = job(&dir.path().join(place).join("job"), &pairs);
            let out = dir.path().join(place).join("out");
            let packed = bundle::pack(&job, &out, &PackOptions::default()).unwrap();
            results.push((packed.digest, fs_err::read(packed.path).unwrap()));
            let middle = turn % pairs.len();
            pairs.rotate_left(middle);
            pairs.reverse();
        }
        prop_assert_eq!(&results[0], &results[1]);
    }
}

/// Changes to an archive or a frame: set a byte, cut, repeat a stretch.
#[derive(Debug, Clone)]
enum Change {
    Set(prop::sample::Index, u8),
    Cut(prop::sample::Index),
    Repeat(prop::sample::Index, prop::sample::Index),
    Drop(prop::sample::Index, prop::sample::Index),
}

fn change() -> impl Strategy<Value = Change> {
    use prop::sample::Index;
    prop_oneof![
        6 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        1 => any::<Index>().prop_map(Change::Cut),
        2 => any::<(Index, Index)>().prop_map(|(a, b)| Change::Repeat(a, b)),
        2 => any::<(Index, Index)>().prop_map(|(a, b)| Change::Drop(a, b)),
    ]
}

/// Applies a change; stretches begin and end at multiples of `unit`.
fn apply(bytes: &mut Vec<u8>, change: &Change, unit: usize) {
    if bytes.is_empty() {
        return;
    }
    let place = |index: &prop::sample::Index| index.index(bytes.len()) / unit * unit;
    match change {
        Change::Set(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Change::Cut(at) => bytes.truncate(place(at)),
        Change::Repeat(a, b) => {
            let (a, b) = (place(a).min(place(b)), place(a).max(place(b)));
            let stretch = bytes[a..b].to_vec();
            bytes.splice(b..b, stretch);
        }
        Change::Drop(a, b) => {
            let (a, b) = (place(a).min(place(b)), place(a).max(place(b)));
            bytes.drain(a..b);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..600)) {
        reader_takes_only_the_canonical_form(&bytes);
        reader_takes_only_the_canonical_form(&compress(&bytes));
    }

    #[test]
    fn changed_frames(seed in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..4)) {
        let mut bytes = seed.get(&CORPUS).1.clone();
        for change in &changes {
            apply(&mut bytes, change, 1);
        }
        reader_takes_only_the_canonical_form(&bytes);
    }

    #[test]
    fn changed_archives(seed in any::<prop::sample::Index>(), changes in prop::collection::vec(change(), 1..4)) {
        let mut archive = seed.get(&ARCHIVES).clone();
        for change in &changes {
            apply(&mut archive, change, 512);
        }
        reader_takes_only_the_canonical_form(&compress(&archive));
    }
}
