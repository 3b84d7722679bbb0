//! Archives that say what a bundle never says, each with its own reason, place and entry.
//!
//! With `KERNREC_WRITE_CORPUS` set, every small case is also kept under `tests/corpus/bundle/` as
//! `<reason>--<test>-<digest>.tar.zst`: the seeds of the mutation tests in `properties.rs`.

use crate::common::{Head, META, RECORDING, Tar, compress, read};
use kernrec_store::bundle::{self, BundleError, Place};
use std::path::Path;

/// Keeps a small case in the corpus, when asked to.
pub(crate) fn keep(bytes: &[u8], outcome: &str) {
    if bytes.len() > 4096 || std::env::var_os("KERNREC_WRITE_CORPUS").is_none() {
        return;
    }
    let test = std::thread::current().name().unwrap().to_owned();
    let test = test.rsplit("::").next().unwrap().to_owned();
    let digest = kernrec_schemas::Digest::of(bytes).hex();
    let name = format!("{outcome}--{test}-{}.tar.zst", &digest[..8]);
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus/bundle");
    fs_err::write(corpus.join(name), bytes).unwrap();
}

/// The bundle is refused for this reason; gives where, and which entry.
pub(crate) fn refused(bytes: &[u8], reason: &str) -> (Place, Option<String>) {
    keep(bytes, reason);
    let (result, _) = read(bytes);
    let error = result.unwrap_err();
    assert_eq!(error.reason(), reason, "{error}");
    match error {
        BundleError::Refused {
            bundle,
            place,
            entry,
            ..
        } => {
            assert_eq!(bundle, "the-bundle");
            (place, entry)
        }
        other => panic!("{other}"),
    }
}

/// An entry after a good `bundle.json` and recording is refused at its header, before it is handed over.
fn entry_refused(head: &Head, content: &[u8], reason: &str, name: &str) {
    let good = Tar::with_meta().file(b"kern.1.txt", RECORDING);
    let at = good.len();
    let bytes = good.entry(head, content).bundle();
    let (place, entry) = refused(&bytes, reason);
    assert_eq!(place, Place::Archive(at));
    assert_eq!(entry.as_deref(), Some(name));
    assert_eq!(read(&bytes).1.len(), 2, "the entry must not be handed over");
}

fn name_refused(name: &[u8], reason: &str, shown: &str) {
    entry_refused(&Head::new(name, 1), b"x", reason, shown);
}

fn kind_refused(kind: u8, reason: &str) {
    let head = Head::new(b"kern.2.txt", 0).kind(kind);
    entry_refused(&head, b"", reason, "kern.2.txt");
}

#[test]
fn absolute_name() {
    name_refused(b"/kern.2.txt", "absolute-name", "/kern.2.txt");
}

#[test]
fn parent_name() {
    name_refused(b"../kern.2.txt", "parent-name", "../kern.2.txt");
    name_refused(b"..", "parent-name", "..");
    name_refused(b"a/../kern.2.txt", "parent-name", "a/../kern.2.txt");
}

#[test]
fn nested_name() {
    name_refused(b"sub/kern.2.txt", "nested-name", "sub/kern.2.txt");
    name_refused(b"./kern.2.txt", "nested-name", "./kern.2.txt");
}

#[test]
fn name_in_two_parts() {
    let head = Head::new(b"kern.2.txt", 0).with(345, b"sub");
    entry_refused(&head, b"", "nested-name", "sub/kern.2.txt");
    let head = Head::new(b"etc/passwd", 0).with(345, b"/");
    entry_refused(&head, b"", "absolute-name", "//etc/passwd");
}

#[test]
fn name_not_allowed() {
    name_refused(b"evil.sh", "name-not-allowed", "evil.sh");
    name_refused(b"", "name-not-allowed", "");
    name_refused(b"kernrec.json.bak", "name-not-allowed", "kernrec.json.bak");
    name_refused(b"kern.2\n.txt", "name-not-allowed", "kern.2\\n.txt");
    name_refused(b"kern.\xff.txt", "name-not-allowed", "kern.\u{fffd}.txt");
}

#[test]
fn symbolic_link() {
    let head = Head::new(b"kern.2.txt", 0)
        .kind(b'2')
        .with(157, b"/etc/passwd");
    entry_refused(&head, b"", "link-entry", "kern.2.txt");
}

#[test]
fn hard_link() {
    let head = Head::new(b"kern.2.txt", 0)
        .kind(b'1')
        .with(157, b"kern.1.txt");
    entry_refused(&head, b"", "link-entry", "kern.2.txt");
}

#[test]
fn link_name_of_a_regular_file() {
    let head = Head::new(b"kern.2.txt", 0).with(157, b"x");
    entry_refused(&head, b"", "not-canonical", "kern.2.txt");
}

#[test]
fn character_device() {
    kind_refused(b'3', "device-entry");
}

#[test]
fn block_device() {
    kind_refused(b'4', "device-entry");
}

#[test]
fn fifo() {
    kind_refused(b'6', "device-entry");
}

#[test]
fn directory() {
    kind_refused(b'5', "directory-entry");
}

#[test]
fn sparse_file() {
    kind_refused(b'S', "sparse-entry");
}

#[test]
fn unknown_type() {
    kind_refused(b'Z', "unknown-entry-type");
}

#[test]
fn old_and_contiguous_types() {
    kind_refused(b'\0', "not-canonical");
    kind_refused(b'7', "not-canonical");
}

#[test]
fn pax_record_that_changes_the_size() {
    let record = b"20 size=99999999999\n";
    let head = Head::new(b"PaxHeaders/kern.2.txt", record.len() as u64).kind(b'x');
    entry_refused(&head, record, "extension-record", "PaxHeaders/kern.2.txt");
}

#[test]
fn global_pax_record() {
    let record = b"19 path=/etc/passwd\n";
    let head = Head::new(b"pax_global_header", record.len() as u64).kind(b'g');
    entry_refused(&head, record, "extension-record", "pax_global_header");
}

#[test]
fn gnu_long_name() {
    let head = Head::new(b"././@LongLink", 12).kind(b'L');
    entry_refused(&head, b"/etc/passwd\0", "extension-record", "././@LongLink");
}

#[test]
fn duplicate_name() {
    name_refused(b"kern.1.txt", "duplicate-name", "kern.1.txt");
}

#[test]
fn duplicate_bundle_json() {
    let good = Tar::with_meta();
    let at = good.len();
    let (place, entry) = refused(&good.file(b"bundle.json", META).bundle(), "duplicate-name");
    assert_eq!(place, Place::Archive(at));
    assert_eq!(entry.as_deref(), Some("bundle.json"));
}

#[test]
fn unsorted_names() {
    name_refused(b"kern.0.txt", "unsorted-names", "kern.0.txt");
    name_refused(b"bundle.json", "unsorted-names", "bundle.json");
}

#[test]
fn no_bundle_json() {
    let bytes = Tar::default().file(b"kern.1.txt", RECORDING).bundle();
    let (place, entry) = refused(&bytes, "no-bundle-json");
    assert_eq!(place, Place::Archive(0));
    assert_eq!(entry.as_deref(), Some("kern.1.txt"));
}

#[test]
fn nothing_at_all() {
    refused(&Tar::default().bundle(), "no-bundle-json");
}

#[test]
fn neither_sidecar_nor_recording() {
    refused(&Tar::with_meta().bundle(), "bundle-empty");
    refused(
        &Tar::with_meta().file(b"setup.log", b"x").bundle(),
        "bundle-empty",
    );
}

#[test]
fn claim_of_100_gib() {
    // GNU's base-256 form: 12 octal digits end at 64 GiB.
    let size = [&[0x80, 0, 0, 0][..], &(100_u64 << 30).to_be_bytes()].concat();
    let head = Head::new(b"kern.2.txt", 0).with(124, &size);
    entry_refused(&head, b"", "entry-too-large", "kern.2.txt");
}

#[test]
fn claim_of_more_than_any_number() {
    let head = Head::new(b"kern.2.txt", 0).with(124, &[[0x80; 1], [0xff; 1]].concat());
    entry_refused(&head, b"", "entry-too-large", "kern.2.txt");
}

#[test]
fn claim_of_one_byte_too_many() {
    let head = Head::new(b"kern.2.txt", (256 << 20) + 1);
    entry_refused(&head, b"", "entry-too-large", "kern.2.txt");
}

#[test]
fn claim_of_more_than_the_archive_holds() {
    let head = Head::new(b"kern.2.txt", 256 << 20);
    entry_refused(&head, b"x", "bundle-truncated", "kern.2.txt");
}

#[test]
fn negative_and_unreadable_sizes() {
    for size in [&[0xff; 12][..], b"0000000000x\0", b"-0000000001\0"] {
        let head = Head::new(b"kern.2.txt", 0).with(124, size);
        entry_refused(&head, b"", "not-canonical", "kern.2.txt");
    }
}

#[test]
fn other_mode_owner_time_or_format() {
    let variations: [(usize, &[u8]); 8] = [
        (100, b"0000755\0"),
        (108, b"0001750\0"),
        (116, b"0001750\0"),
        (136, b"14707371353\0"),
        (257, b"ustar  \0"),
        (265, b"root"),
        (297, b"root"),
        (508, b"x"),
    ];
    for (at, bytes) in variations {
        let head = Head::new(b"kern.2.txt", 0).with(at, bytes);
        entry_refused(&head, b"", "not-canonical", "kern.2.txt");
    }
}

#[test]
fn bytes_behind_the_name() {
    let head = Head::new(b"kern.2.txt\0/../../etc/passwd", 0);
    entry_refused(&head, b"", "not-canonical", "kern.2.txt");
}

#[test]
fn header_checksum() {
    let mut head = Head::new(b"kern.2.txt", 0);
    head.0[0] = b'K';
    entry_refused(&head, b"", "header-checksum", "Kern.2.txt");
}

#[test]
fn data_between_entries() {
    let mut tar = Tar::with_meta();
    let last = tar.0.len() - 1;
    tar.0[last] = 1;
    let (place, entry) = refused(&tar.bundle(), "not-canonical");
    assert_eq!(place, Place::Archive(512 + META.len() as u64));
    assert_eq!(entry.as_deref(), Some("bundle.json"));
}

#[test]
fn data_after_the_end_of_the_archive() {
    let good = Tar::with_meta().file(b"kern.1.txt", RECORDING);
    let end = good.len() + 1024;
    let bytes = good.clone().raw(&[0; 1024]).file(b"kern.2.txt", b"x");
    let (place, _) = refused(&bytes.bundle(), "trailing-data");
    assert_eq!(place, Place::Archive(end));
    let between = good.raw(&[0; 512]).file(b"kern.2.txt", b"x");
    let (place, _) = refused(&between.bundle(), "trailing-data");
    assert_eq!(place, Place::Archive(end - 512));
}

#[test]
fn a_third_zero_block() {
    let good = Tar::with_meta().file(b"kern.1.txt", RECORDING);
    refused(&good.raw(&[0; 512]).bundle(), "trailing-data");
}

#[test]
fn archive_without_its_end() {
    let good = Tar::with_meta().file(b"kern.1.txt", RECORDING);
    refused(&compress(&good.0), "bundle-truncated");
    refused(&compress(&good.raw(&[0; 512]).0), "bundle-truncated");
}

#[test]
fn bundle_json_of_another_form() {
    let spaced = [META, b"\n"].concat();
    let newer =
        br#"{"schema":"kernrec.bundle/2","job_id":"j-1","step_key":null,"layout":"in-build"}"#;
    let doubled = br#"{"schema":"kernrec.bundle/1","job_id":"j-1","job_id":"j-2","step_key":null,"layout":"in-build"}"#;
    let more = br#"{"schema":"kernrec.bundle/1","job_id":"j-1","step_key":null,"layout":"in-build","x":1}"#;
    let bad_id =
        br#"{"schema":"kernrec.bundle/1","job_id":"../j","step_key":null,"layout":"in-build"}"#;
    for meta in [&spaced[..], newer, doubled, more, bad_id, b"{", b"", b"[]"] {
        let tar = Tar::default().file(b"bundle.json", meta);
        let bytes = tar.file(b"kern.1.txt", RECORDING).bundle();
        let (place, entry) = refused(&bytes, "bundle-json-refused");
        assert_eq!(place, Place::Archive(512));
        assert_eq!(entry.as_deref(), Some("bundle.json"));
        assert!(read(&bytes).1.is_empty());
    }
}

#[test]
fn too_many_entries() {
    let mut tar = Tar::with_meta();
    // One header renumbered: the digits are all that its checksum has to follow.
    let template = Head::new(b"kern.000000.txt", 0).0;
    let base = u32::from_str_radix(str::from_utf8(&template[148..154]).unwrap(), 8).unwrap();
    for i in 1..=200_000 {
        let digits = format!("{i:06}");
        let sum = base + digits.bytes().map(|b| u32::from(b - b'0')).sum::<u32>();
        let mut head = template;
        head[5..11].copy_from_slice(digits.as_bytes());
        head[148..154].copy_from_slice(format!("{sum:06o}").as_bytes());
        tar.0.extend_from_slice(&head);
    }
    let mut visited = 0;
    let result = bundle::read("many", &tar.bundle()[..], &mut |_, _| visited += 1);
    assert_eq!(result.unwrap_err().reason(), "too-many-entries");
    assert_eq!(visited, 200_000);
}
