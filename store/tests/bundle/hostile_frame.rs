//! Frames that lie about their content, hide something, or do not end where they should.

use crate::common::{RECORDING, Tar, compress, read};
use crate::hostile::{keep, refused};
use kernrec_store::bundle::Place;
use std::io::Write;

const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
/// Window of 8 MiB, as a frame header spells it.
const WINDOW_8_MIB: u8 = 13 << 3;

fn good() -> Vec<u8> {
    Tar::with_meta().file(b"kern.1.txt", RECORDING).bundle()
}

/// A frame header with checksum flag, window and an eight-byte content size.
fn head(window: u8, size: u64) -> Vec<u8> {
    [&MAGIC[..], &[0b1100_0100, window], &size.to_le_bytes()].concat()
}

/// A block of 128 KiB of one byte.
fn run_block(byte: u8) -> [u8; 4] {
    let header = (128 * 1024_u32) << 3 | 0b010;
    let [a, b, c, _] = header.to_le_bytes();
    [a, b, c, byte]
}

#[test]
fn the_good_one_is_taken() {
    keep(&good(), "taken");
    let (result, entries) = read(&good());
    let summary = result.unwrap();
    assert_eq!(summary.meta.job_id.as_str(), "j-1");
    assert_eq!(entries.len(), 2);
}

#[test]
fn nothing_or_something_else() {
    assert_eq!(refused(b"", "bundle-truncated").0, Place::Compressed(0));
    assert_eq!(
        refused(b"\x1f\x8b\x08\0 gzip", "not-a-bundle").0,
        Place::Compressed(0)
    );
    refused(&Tar::with_meta().0, "not-a-bundle");
}

#[test]
fn claim_of_100_gib_in_the_frame() {
    refused(&head(WINDOW_8_MIB, 100 << 30), "bundle-too-large");
    refused(&head(WINDOW_8_MIB, u64::MAX), "bundle-too-large");
    refused(&head(WINDOW_8_MIB, (4 << 30) + 1), "bundle-too-large");
}

#[test]
fn window_of_more_than_8_mib() {
    refused(&head(14 << 3, 1 << 30), "window-too-large");
    refused(&head(31 << 3, 1 << 30), "window-too-large");
    // One segment: the content is the window.
    let size = 1_u64 << 30;
    let single = [&MAGIC[..], &[0b1110_0100], &size.to_le_bytes()].concat();
    refused(&single, "window-too-large");
}

#[test]
fn window_of_an_odd_size() {
    refused(&head(WINDOW_8_MIB - 7, 1 << 30), "frame-header");
}

#[test]
fn bomb_beyond_its_claim() {
    let mut bytes = head(WINDOW_8_MIB, 2048);
    for _ in 0..10_000 {
        bytes.extend_from_slice(&run_block(b'x'));
    }
    refused(&bytes, "bundle-damaged");
}

#[test]
fn bomb_of_zeros_within_its_claim() {
    let mut bytes = head(WINDOW_8_MIB, 4 << 30);
    for _ in 0..1000 {
        bytes.extend_from_slice(&run_block(0));
    }
    let (place, _) = refused(&bytes, "trailing-data");
    assert_eq!(place, Place::Archive(1024), "nothing past the end is read");
}

#[test]
fn frame_without_checksum() {
    let archive = Tar::with_meta().file(b"kern.1.txt", RECORDING);
    let bytes = zstd::bulk::compress(&archive.raw(&[0; 1024]).0, 3).unwrap();
    refused(&bytes, "frame-header");
}

#[test]
fn frame_without_content_size() {
    let archive = Tar::with_meta().file(b"kern.1.txt", RECORDING);
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder.write_all(&archive.raw(&[0; 1024]).0).unwrap();
    refused(&encoder.finish().unwrap(), "frame-header");
}

#[test]
fn frame_with_a_dictionary() {
    let mut bytes = good();
    bytes[4] |= 1;
    refused(&bytes, "frame-header");
}

#[test]
fn frame_with_a_meaningless_bit() {
    for bit in [0b1000, 0b1_0000] {
        let mut bytes = good();
        bytes[4] |= bit;
        refused(&bytes, "frame-header");
    }
}

#[test]
fn trailing_rubbish() {
    let end = good().len() as u64;
    for rubbish in [&b"\0"[..], b"rubbish", &vec![0; 100_000]] {
        let bytes = [&good(), rubbish].concat();
        assert_eq!(refused(&bytes, "trailing-data").0, Place::Compressed(end));
    }
}

#[test]
fn second_frame() {
    let end = good().len() as u64;
    let bytes = [good(), good()].concat();
    assert_eq!(refused(&bytes, "trailing-data").0, Place::Compressed(end));
    let empty = [good(), compress(b"")].concat();
    refused(&empty, "trailing-data");
}

#[test]
fn skippable_frame() {
    let skippable = b"\x50\x2a\x4d\x18\x04\0\0\0data";
    refused(&[&good()[..], skippable].concat(), "trailing-data");
    refused(&[&skippable[..], &good()].concat(), "not-a-bundle");
}

/// A source that gives one byte at a time, and now and then only an interruption.
struct Drip<'a>(&'a [u8], bool);

impl std::io::Read for Drip<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        self.1 = !self.1;
        if self.1 {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        let n = out.len().min(1);
        std::io::Read::read(&mut self.0, &mut out[..n])
    }
}

#[test]
fn a_slow_source_reads_the_same() {
    let bytes = good();
    let slow = kernrec_store::bundle::read("slow", Drip(&bytes, false), &mut |_, _| ()).unwrap();
    assert_eq!(slow, read(&bytes).0.unwrap());
}

#[test]
fn a_visitor_may_read_another_bundle() {
    let bytes = good();
    let mut inner = 0;
    let outer = kernrec_store::bundle::read("outer", &bytes[..], &mut |_, _| {
        read(&bytes).0.unwrap();
        inner += 1;
    });
    assert_eq!((outer.unwrap(), inner), (read(&bytes).0.unwrap(), 2));
}

/// A source that fails after its content.
struct Broken<'a>(&'a [u8]);

impl std::io::Read for Broken<'_> {
    fn read(&mut self, out: &mut [u8]) -> std::io::Result<usize> {
        match std::io::Read::read(&mut self.0, out)? {
            0 => Err(std::io::Error::other("the line went dead")),
            n => Ok(n),
        }
    }
}

#[test]
fn a_failing_source_is_no_truncation() {
    let bytes = good();
    let error = kernrec_store::bundle::read("line", Broken(&bytes[..50]), &mut |_, _| ());
    let error = error.unwrap_err();
    assert_eq!(error.reason(), "source-error");
    assert!(error.to_string().contains("the line went dead"));
}
