//! Every truncation and every flipped bit of a bundle is noticed.

use crate::common::{RECORDING, Tar, job, read};
use kernrec_store::bundle::{self, PackOptions};

fn small() -> Vec<u8> {
    let sidecar = br#"{"job_id":"j-1","step_key":"demo","exit_status":0}"#;
    Tar::with_meta()
        .file(b"kern.1.txt", RECORDING)
        .file(b"kern.2.txt", b"# kernrec v1 pid=2\n_Z5otherv\n")
        .file(b"kernrec.json", sidecar)
        .bundle()
}

/// More than 2 MiB: a frame of many blocks, with a window of its own.
fn large() -> Vec<u8> {
    let mut lines = Vec::new();
    for i in 0_u64..80_000 {
        let salt = i.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        lines.extend_from_slice(format!("_Z20kernel{salt:016x}_{}v\n", i % 977).as_bytes());
    }
    Tar::with_meta().file(b"kern.1.txt", &lines).bundle()
}

#[test]
fn every_truncation_of_a_small_bundle() {
    let whole = small();
    read(&whole).0.unwrap();
    for end in 0..whole.len() {
        let error = read(&whole[..end]).0.unwrap_err();
        assert_eq!(error.reason(), "bundle-truncated", "cut at {end}: {error}");
    }
}

#[test]
fn every_inverted_byte_of_a_small_bundle() {
    let whole = small();
    for at in 0..whole.len() {
        let mut bytes = whole.clone();
        bytes[at] = !bytes[at];
        assert!(read(&bytes).0.is_err(), "byte {at}");
    }
}

/// A few bits of a zstd frame mean nothing: those that fill up the last byte of an entropy table's
/// description (RFC 8878, section 4.1.1). Changing one changes no content and no digest.
#[test]
fn every_changed_bit_of_a_small_bundle_is_refused_or_changes_nothing() {
    let whole = small();
    let (summary, entries) = read(&whole);
    let summary = summary.unwrap();
    let mut without_effect = 0;
    for at in 0..whole.len() {
        for bit in 0..8 {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << bit;
            if let (Ok(other), same) = read(&bytes) {
                assert_eq!(other, summary, "bit {bit} of byte {at}");
                assert!(same == entries, "bit {bit} of byte {at}");
                without_effect += 1;
            }
        }
    }
    // One block has at most four such tables, each with at most seven bits to fill up.
    assert!(without_effect <= 4 * 7, "{without_effect} bits");
}

#[test]
fn a_large_bundle_cut_or_flipped_all_over() {
    let whole = large();
    let summary = read(&whole).0.unwrap();
    assert!(summary.size > 2 << 20);
    for at in (0..whole.len()).step_by(whole.len() / 19) {
        assert!(read(&whole[..at]).0.is_err(), "cut at {at}");
        let mut bytes = whole.clone();
        bytes[at] ^= 0x10;
        assert!(read(&bytes).0.is_err(), "byte {at}");
    }
    // The window is all that a frame can say in two ways; what it holds is then still the same.
    for bit in 0..8 {
        let mut bytes = whole.clone();
        bytes[5] ^= 1 << bit;
        if let Ok(other) = read(&bytes).0 {
            assert_eq!(other, summary, "window bit {bit}");
        }
    }
}

#[test]
fn a_bundle_under_another_digest() {
    let dir = tempfile::tempdir().unwrap();
    let first = job(&dir.path().join("a"), &[("kern.1.txt", RECORDING)]);
    let second = job(&dir.path().join("b"), &[("kern.1.txt", RECORDING)]);
    let out = dir.path().join("out");
    let first = bundle::pack(&first, &out, &PackOptions::default()).unwrap();
    let second = bundle::pack(&second, &out, &PackOptions::default()).unwrap();
    fs_err::copy(&first.path, &second.path).unwrap();
    let error = bundle::read_file(&second.path, &mut |_, _| ()).unwrap_err();
    assert_eq!(error.reason(), "digest-mismatch");
    assert!(error.to_string().contains(&first.digest.to_string()));
    // Under a name that promises nothing it is what it says it is.
    let renamed = out.join("some-job.tar.zst");
    fs_err::copy(&first.path, &renamed).unwrap();
    let summary = bundle::read_file(&renamed, &mut |_, _| ()).unwrap();
    assert_eq!(summary.digest, first.digest);
}
