//! Bundles and metadata made here: every defect that compilers do not make.

use super::bundle;
use super::metadata;
use super::section::{Found, read_section};
use crate::input::{Budget, Fault, Reason, Span};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// A bundle of entries, each padded to `align`.
fn bundle_of(entries: &[(&str, &[u8])], align: usize) -> Vec<u8> {
    let table: usize = 32 + entries.iter().map(|(id, _)| 24 + id.len()).sum::<usize>();
    let mut out = bundle::MAGIC.to_vec();
    out.extend((entries.len() as u64).to_le_bytes());
    let mut at = table.next_multiple_of(align);
    for (id, code) in entries {
        out.extend((at as u64).to_le_bytes());
        out.extend((code.len() as u64).to_le_bytes());
        out.extend((id.len() as u64).to_le_bytes());
        out.extend(id.as_bytes());
        at = (at + code.len()).next_multiple_of(align);
    }
    for (_, code) in entries {
        out.resize(out.len().next_multiple_of(align), 0);
        out.extend(*code);
    }
    out
}

fn read(section: &[u8]) -> Result<BTreeSet<String>, Fault> {
    let (mut kernels, mut targets) = (BTreeSet::new(), BTreeSet::new());
    let found = Found {
        kernels: &mut kernels,
        targets: &mut targets,
    };
    let mut budget = Budget::of(section.len() as u64);
    read_section(Span::new(section, 0), &mut budget, found)?;
    Ok(kernels)
}

fn reason(section: &[u8]) -> Reason {
    read(section).unwrap_err().reason
}

const HOST: (&str, &[u8]) = ("host-x86_64-unknown-linux-gnu-", b"");
const GFX942: &str = "hipv4-amdgcn-amd-amdhsa--gfx942";

#[test]
fn bundles_without_device_code_are_errors() {
    assert_eq!(reason(&[]), Reason::NoReadableEntry);
    assert_eq!(reason(&[0; 4096]), Reason::NoReadableEntry);
    assert_eq!(reason(&bundle_of(&[HOST], 4096)), Reason::NoReadableEntry);
    assert_eq!(
        reason(&bundle_of(&[HOST, (GFX942, b"BC\xC0\xDE1234")], 8)),
        Reason::Bitcode
    );
    assert_eq!(
        reason(&bundle_of(&[HOST, (GFX942, b"nothing")], 8)),
        Reason::Malformed
    );
    assert_eq!(
        reason(&bundle_of(&[HOST, (GFX942, b"")], 8)),
        Reason::Malformed
    );
}

#[test]
fn ids_of_other_runtimes_and_without_target_are_errors() {
    for id in [
        "openmp-amdgcn-amd-amdhsa--gfx942",
        "hip-amdgcn-amd-amdhsa-",
        "hip-spirv64-amd-amdhsa--amdgcnspirv",
    ] {
        assert_eq!(
            reason(&bundle_of(&[HOST, (id, b"code")], 8)),
            Reason::Unsupported,
            "{id}"
        );
    }
}

#[test]
fn tables_that_lie_are_errors() {
    let good = bundle_of(&[HOST, (GFX942, &[7; 100])], 64);
    let second = 32 + 24 + HOST.0.len();
    for (at, what) in [
        (24, "count"),
        (second, "offset"),
        (second + 8, "size"),
        (second + 16, "id"),
    ] {
        for value in [u64::MAX, 1 << 40, good.len() as u64] {
            let mut bytes = good.clone();
            bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
            let fault = read(&bytes).unwrap_err();
            assert_eq!(fault.reason, Reason::Malformed, "{what} {value:#x}");
            // Where it stands, not where it points.
            assert!(fault.offset < 32 + 200, "{what}: {:#x}", fault.offset);
        }
    }
}

#[test]
fn code_objects_do_not_overlap_each_other_or_the_table() {
    let other = "hipv4-amdgcn-amd-amdhsa--gfx90a";
    let good = bundle_of(&[(GFX942, &[7; 64]), (other, &[7; 64])], 64);
    assert!(bundle::entries(Span::new(&good, 0)).is_ok());
    for place in [0_u64, 64, 200] {
        let mut bytes = good.clone();
        bytes[32..40].copy_from_slice(&place.to_le_bytes());
        let fault = bundle::entries(Span::new(&bytes, 0)).unwrap_err();
        assert_eq!(fault.reason, Reason::Malformed, "{place}");
    }
}

/// `MessagePack` in the forms that LLVM writes, and wider ones.
fn text(out: &mut Vec<u8>, text: &str) {
    out.push(0xda);
    out.extend(u16::try_from(text.len()).unwrap().to_be_bytes());
    out.extend(text.as_bytes());
}

fn note(kernels: &[String]) -> Vec<u8> {
    let mut out = vec![0x83];
    text(&mut out, "amdhsa.version");
    out.extend([0x92, 1, 0xcd, 1, 2]);
    text(&mut out, "amdhsa.kernels");
    out.push(0xdc);
    out.extend(u16::try_from(kernels.len()).unwrap().to_be_bytes());
    for kernel in kernels {
        out.push(0x83);
        text(&mut out, ".args");
        out.extend([0x91, 0x81, 0xa1, b'x', 0xcb, 0, 0, 0, 0, 0, 0, 0, 0]);
        text(&mut out, ".symbol");
        text(&mut out, &format!("{kernel}.kd"));
        text(&mut out, ".odd");
        out.extend([0xc7, 2, 5, 1, 2]);
    }
    text(&mut out, "amdhsa.target");
    text(&mut out, "amdgcn-amd-amdhsa--gfx942");
    out
}

#[test]
fn metadata_deeper_than_any_real_one_is_an_error() {
    let mut out = vec![0x81];
    text(&mut out, "deep");
    out.extend(vec![0x91; 100_000]);
    let fault = metadata::read(Span::new(&out, 0)).unwrap_err();
    assert_eq!(fault.reason, Reason::Malformed);
}

#[test]
fn a_kernel_twice_or_without_symbol_is_an_error() {
    let twice = note(&["a".to_owned(), "a".to_owned()]);
    assert!(metadata::read(Span::new(&twice, 0)).is_err());
    let mut out = vec![0x81];
    text(&mut out, "amdhsa.kernels");
    out.extend([0x91, 0x80]);
    assert!(metadata::read(Span::new(&out, 0)).is_err());
}

/// Targets and code of a bundle's entries.
type Entries = Vec<(String, Vec<u8>)>;

/// A bundle of several entries, what is in it, and whatever follows it.
fn any_bundle() -> impl Strategy<Value = (Vec<u8>, Entries)> {
    let entry = (
        "[a-z0-9:+-]{0,40}",
        prop::collection::vec(any::<u8>(), 0..200),
    );
    let entries = prop::collection::vec(entry, 1..6);
    (entries, 0_u32..8, 0_usize..50).prop_map(|(entries, align, after)| {
        let list: Vec<(&str, &[u8])> = entries
            .iter()
            .map(|(id, code)| (id.as_str(), code.as_slice()))
            .collect();
        let mut bytes = bundle_of(&list, 1 << align);
        bytes.resize(bytes.len() + after, 0);
        (bytes, entries)
    })
}

fn listed(bytes: &[u8]) -> Result<Entries, Fault> {
    let (entries, end) = bundle::entries(Span::new(bytes, 0))?;
    assert!(end <= bytes.len() as u64);
    let owned = |entry: &bundle::Entry<'_>| (entry.id.to_owned(), entry.code.bytes().to_vec());
    Ok(entries.iter().map(owned).collect())
}

proptest! {
    #[test]
    fn a_bundle_lists_what_was_put_in((bytes, entries) in any_bundle()) {
        prop_assert_eq!(listed(&bytes).unwrap(), entries);
    }

    #[test]
    fn a_truncated_bundle_is_an_error_or_the_whole(
        (bytes, entries) in any_bundle(), cut in any::<prop::sample::Index>(),
    ) {
        // Nothing but what follows the last code object may be missing.
        if let Ok(found) = listed(&bytes[..cut.index(bytes.len())]) {
            prop_assert_eq!(found, entries);
        }
    }

    #[test]
    fn a_damaged_bundle_never_panics(
        (mut bytes, _) in any_bundle(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..6),
    ) {
        for (at, bit) in flips {
            let at = at.index(bytes.len());
            bytes[at] ^= 1 << bit;
        }
        if let Err(fault) = listed(&bytes) {
            prop_assert!(fault.offset <= bytes.len() as u64);
        }
        let _ = read(&bytes);
    }

    #[test]
    fn metadata_lists_what_was_put_in(names in prop::collection::btree_set("[a-z]{1,20}", 0..20)) {
        let list: Vec<String> = names.iter().cloned().collect();
        let metadata = metadata::read(Span::new(&note(&list), 0)).unwrap();
        let expected: BTreeSet<String> = names.iter().map(|name| format!("{name}.kd")).collect();
        prop_assert_eq!(metadata.descriptors, expected);
        prop_assert_eq!(metadata.target.as_deref(), Some("amdgcn-amd-amdhsa--gfx942"));
    }

    #[test]
    fn truncated_metadata_is_an_error(cut in 0_usize..100) {
        let full = note(&["kernel".to_owned()]);
        let cut = cut.min(full.len() - 1);
        prop_assert!(metadata::read(Span::new(&full[..cut], 0)).is_err());
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = metadata::read(Span::new(&noise, 0));
        for start in [&bundle::MAGIC[..], b"CCOB\x01\0\0\0", b"CCOB\x02\0\x01\0", b"CCOB\x03\0\0\0"] {
            let mut section = start.to_vec();
            section.extend(&noise);
            prop_assert!(read(&section).is_err());
        }
    }
}

/// Inputs worth keeping: what compilers made, and what once was or could be trouble.
#[test]
fn the_kept_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/bundle");
    let mut seen = 0;
    for file in fs_err::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let good = path
            .file_name()
            .unwrap()
            .to_string_lossy()
            .starts_with("good-");
        let found = read(&fs_err::read(&path).unwrap());
        if good {
            assert_eq!(
                found.unwrap(),
                BTreeSet::from(["tiny".to_owned()]),
                "{}",
                path.display()
            );
        } else {
            assert!(found.is_err(), "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 6, "{seen} files");
}
