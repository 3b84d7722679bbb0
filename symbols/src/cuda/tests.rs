//! Containers made here: every size, packing and defect that compilers do not make.

use super::{DeviceLinks, Found, Unpacker, read_section};
use crate::input::{Budget, Fault, Reason, Region};
use proptest::prelude::*;
use std::collections::BTreeSet;

const PTX: &str = ".version 8.0\n.target sm_80\n.visible .entry first(.param .u64 p)\n{ ret; }\n";

#[derive(Debug, Clone, Copy)]
enum Pack {
    Plain,
    Lz4,
    Zstd,
}

/// An entry as `fatbinary` lays it out.
fn entry(kind: u16, arch: u32, pack: Pack, image: &[u8], options: usize) -> Vec<u8> {
    let (flags, stored) = match pack {
        Pack::Plain => (0x11_u64, image.to_vec()),
        Pack::Lz4 => (0x2011, lz4_flex::block::compress(image)),
        Pack::Zstd => (0x8011, zstd::bulk::compress(image, 3).unwrap()),
    };
    let packed = !matches!(pack, Pack::Plain);
    let header = 64 + options.next_multiple_of(8);
    let mut out = vec![0; header];
    out[..2].copy_from_slice(&kind.to_le_bytes());
    out[2..4].copy_from_slice(&0x101_u16.to_le_bytes());
    out[4..8].copy_from_slice(&u32::try_from(header).unwrap().to_le_bytes());
    let padded = stored.len().next_multiple_of(8);
    out[8..16].copy_from_slice(&(padded as u64).to_le_bytes());
    if packed {
        out[16..20].copy_from_slice(&u32::try_from(stored.len()).unwrap().to_le_bytes());
        out[56..64].copy_from_slice(&(image.len() as u64).to_le_bytes());
    }
    out[28..32].copy_from_slice(&arch.to_le_bytes());
    out[40..48].copy_from_slice(&flags.to_le_bytes());
    out.extend(&stored);
    out.resize(header + padded, 0);
    out
}

fn container(entries: &[Vec<u8>]) -> Vec<u8> {
    let body = entries.concat();
    let mut out = 0xBA55_ED50_u32.to_le_bytes().to_vec();
    out.extend(1_u16.to_le_bytes());
    out.extend(16_u16.to_le_bytes());
    out.extend((body.len() as u64).to_le_bytes());
    out.extend(body);
    out
}

fn ptx(pack: Pack) -> Vec<u8> {
    container(&[entry(1, 80, pack, PTX.as_bytes(), 0)])
}

fn read(section: &[u8]) -> Result<BTreeSet<String>, Fault> {
    let mut names = BTreeSet::new();
    let mut budget = Budget::of(section.len() as u64);
    let mut unpacker = Unpacker::default();
    let mut found = Found {
        kernels: &mut names,
        links: None,
    };
    read_section(
        Region::of(section, 0),
        &mut unpacker,
        &mut budget,
        &mut found,
    )?;
    Ok(names)
}

fn names(list: &[&str]) -> BTreeSet<String> {
    list.iter().map(|&name| name.to_owned()).collect()
}

fn reason(section: &[u8]) -> Reason {
    read(section).unwrap_err().reason
}

/// `section` with the bytes at `at` replaced.
fn with(section: &[u8], at: usize, bytes: &[u8]) -> Vec<u8> {
    let mut out = section.to_vec();
    out[at..at + bytes.len()].copy_from_slice(bytes);
    out
}

#[test]
fn every_packing_is_read() {
    for pack in [Pack::Plain, Pack::Lz4, Pack::Zstd] {
        assert_eq!(read(&ptx(pack)).unwrap(), names(&["first"]), "{pack:?}");
    }
}

#[test]
fn containers_follow_each_other_with_or_without_padding() {
    let other = PTX.replace("first", "second");
    let mut section = ptx(Pack::Zstd);
    section.extend([0; 40]);
    section.extend(container(&[entry(1, 90, Pack::Lz4, other.as_bytes(), 30)]));
    section.extend(ptx(Pack::Plain));
    section.extend([0; 8]);
    assert_eq!(read(&section).unwrap(), names(&["first", "second"]));
}

#[test]
fn lto_needs_code_of_its_own_architecture_beside_it() {
    let lto = |arch| entry(8, arch, Pack::Plain, b"obfuscated", 0);
    let ptx = entry(1, 80, Pack::Plain, PTX.as_bytes(), 0);
    assert_eq!(
        read(&container(&[lto(80), ptx.clone()])).unwrap(),
        names(&["first"])
    );
    assert_eq!(reason(&container(&[lto(90), ptx])), Reason::LtoOnly);
}

#[test]
fn a_section_without_an_entry_is_an_error() {
    for section in [vec![], vec![0; 64], container(&[])] {
        assert_eq!(reason(&section), Reason::NoReadableEntry);
    }
}

#[test]
fn unknown_kinds_and_versions_are_errors() {
    assert_eq!(
        reason(&with(&ptx(Pack::Plain), 16, &[64, 0])),
        Reason::Unsupported
    );
    assert_eq!(
        reason(&with(&ptx(Pack::Plain), 4, &[2, 0])),
        Reason::Unsupported
    );
    assert_eq!(
        reason(&with(&ptx(Pack::Plain), 0, &[0x51])),
        Reason::Malformed
    );
    assert_eq!(
        reason(&container(&[entry(1, 80, Pack::Plain, b"no text", 0)])),
        Reason::Malformed
    );
    assert_eq!(
        reason(&container(&[entry(2, 80, Pack::Plain, b"no image", 0)])),
        Reason::Malformed
    );
}

#[test]
fn sizes_that_overflow_are_errors() {
    let good = ptx(Pack::Zstd);
    for at in [8, 24] {
        for size in [u64::MAX, u64::MAX - 15, 1 << 63, 1 << 32, good.len() as u64] {
            let fault = read(&with(&good, at, &size.to_le_bytes())).unwrap_err();
            assert_eq!(fault.reason, Reason::Malformed, "{size:#x} at {at}");
        }
    }
    for size in [0, 63, u32::MAX, 1 << 21] {
        assert_eq!(
            reason(&with(&good, 20, &u32::to_le_bytes(size))),
            Reason::Malformed,
            "{size}"
        );
    }
    assert_eq!(
        reason(&with(&good, 32, &u32::MAX.to_le_bytes())),
        Reason::Malformed
    );
}

#[test]
fn bombs_are_refused_before_they_are_unpacked() {
    for pack in [Pack::Lz4, Pack::Zstd] {
        let good = ptx(pack);
        let claim = |size: u64| reason(&with(&good, 72, &size.to_le_bytes()));
        let huge = if matches!(pack, Pack::Lz4) {
            Reason::BadCompression
        } else {
            Reason::TooLarge
        };
        assert_eq!(claim(u64::MAX), huge);
        assert_eq!(claim(1 << 40), huge);
        assert_eq!(claim(PTX.len() as u64 + 1), Reason::BadCompression);
        assert_eq!(claim(PTX.len() as u64 - 1), Reason::BadCompression);
    }
}

#[test]
fn many_images_that_expand_a_lot_end_in_an_error() {
    let mut image = PTX.as_bytes().to_vec();
    image.resize(1 << 20, b' ');
    let section = container(&vec![entry(1, 80, Pack::Zstd, &image, 0); 4]);
    assert!(section.len() < 8192, "{}", section.len());
    let read = |left| {
        let mut found = Found {
            kernels: &mut BTreeSet::new(),
            links: None,
        };
        read_section(
            Region::of(&section, 0),
            &mut Unpacker::default(),
            &mut Budget::exactly(left),
            &mut found,
        )
    };
    assert_eq!(read(4 << 20), Ok(()));
    assert_eq!(read((4 << 20) - 1).unwrap_err().reason, Reason::TooLarge);
}

#[test]
fn ptx_directives_only_count_outside_comments_and_strings() {
    let text = concat!(
        ".version 8.0 // .entry in_comment()\n",
        ".target sm_80\n/* .entry in_block() { */\n",
        ".file 1 \"/a/ .entry in_string(){ \\\" .entry escaped(){\"\n",
        ".extern .entry declared(.param .u64 p);\n",
        ".entry\tdefined\n(.param .align 8 .b8 p[16]) .maxntid 32 {\n ret; }\n",
        ".weak .entry $odd%name(){}\n.entryway not(){}\nx.entry no(){}\n",
        ".entry/* ; */noted // {\n(.param .u64 p) // ends here;\n/* ; */ .maxntid 32 { ret; }.entry next(){}",
    );
    let section = container(&[entry(1, 80, Pack::Plain, text.as_bytes(), 0)]);
    let expected = names(&["$odd%name", "defined", "next", "noted"]);
    assert_eq!(read(&section).unwrap(), expected);
}

#[test]
fn a_kernel_whose_name_or_end_is_missing_is_an_error() {
    for text in [
        ".visible .entry end",
        ".visible .entry",
        ".entry (.param .u64 p) { ret; }",
        ".entry f(.param .u64 p) // { ret; }\n",
        ".entry f(.param .u64 p) /* { ret; }\n",
    ] {
        let text = format!(".version 8.0\n.target sm_80\n{text}");
        let section = container(&[entry(1, 80, Pack::Plain, text.as_bytes(), 0)]);
        assert_eq!(reason(&section), Reason::Malformed, "{text}");
    }
}

fn any_pack() -> impl Strategy<Value = Pack> {
    prop_oneof![Just(Pack::Plain), Just(Pack::Lz4), Just(Pack::Zstd)]
}

/// A section of several containers of PTX entries, and the kernels in it.
fn any_section() -> impl Strategy<Value = (Vec<u8>, BTreeSet<String>)> {
    let one = (
        "[a-z_$][a-z0-9_$]{0,40}",
        any_pack(),
        0_usize..90,
        50_u32..130,
    );
    let padding = (0_usize..4).prop_map(|words| words * 8);
    prop::collection::vec((prop::collection::vec(one, 1..5), padding), 1..5).prop_map(|list| {
        let mut names = BTreeSet::new();
        let mut section = Vec::new();
        for (entries, padding) in list {
            let entries: Vec<Vec<u8>> = entries
                .into_iter()
                .map(|(name, pack, options, arch)| {
                    let text = format!(".version 8.0\n.entry {name}(){{ret;}}\n");
                    names.insert(name);
                    entry(1, arch, pack, text.as_bytes(), options)
                })
                .collect();
            section.extend(container(&entries));
            section.resize(section.len() + padding, 0);
        }
        (section, names)
    })
}

proptest! {
    #[test]
    fn what_was_put_in_comes_out((section, names) in any_section()) {
        prop_assert_eq!(read(&section).unwrap(), names);
    }

    #[test]
    fn truncation_is_an_error_or_loses_whole_containers(
        (section, names) in any_section(), cut in any::<prop::sample::Index>(),
    ) {
        let cut = cut.index(section.len());
        if let Ok(found) = read(&section[..cut]) {
            prop_assert!(found.is_subset(&names));
        }
    }

    #[test]
    fn damage_never_panics(
        (mut section, _) in any_section(),
        flips in prop::collection::vec((any::<prop::sample::Index>(), 0_u8..8), 1..6),
    ) {
        for (at, bit) in flips {
            let at = at.index(section.len());
            section[at] ^= 1 << bit;
        }
        if let Err(fault) = read(&section) {
            prop_assert!(fault.offset <= section.len() as u64);
        }
    }

    #[test]
    fn noise_never_panics(noise in prop::collection::vec(any::<u8>(), 0..400)) {
        let mut section = ptx(Pack::Plain);
        section.truncate(16);
        section.extend(noise);
        let _ = read(&section);
    }
}

/// Inputs worth keeping: what compilers made, and what once was or could be trouble.
#[test]
fn the_kept_corpus() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus/fatbin");
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
            assert_eq!(found.unwrap(), names(&["tiny"]), "{}", path.display());
        } else {
            assert!(found.is_err(), "{}", path.display());
        }
        seen += 1;
    }
    assert!(seen >= 9, "{seen} files");
}

#[test]
fn the_linking_directives_of_ptx() {
    let text = concat!(
        ".version 9.0\n.target sm_90\n// .extern .func in_comment\n",
        ".extern .func (.param .b32 func_retval0) _Z6helperi\n(\n\t.param .b32 p0\n)\n;\n",
        ".extern .entry _Z5childv\n;\n.extern .func nothing_returned;\n",
        ".extern .global .align 4 .u32 counter;\n.extern .const .align 4 .b8 table[16];\n",
        ".extern .shared .align 16 .b8 scratch[];\n",
        ".visible .global .attribute(.managed) .align 8 .u64 pointer = _Z6helperi;\n",
        ".visible .func (.param .b32 func_retval0) _Z8exportedi(\n\t.param .b32 p0\n) .noreturn\n{ ret; }\n",
        ".weak .func twice(.param .b32 p0) { ret; }\n.common .global .u32 a, b[2];\n",
        ".func inner() { ret; }\n.visible .entry kernel(.param .u64 p)\n{ ret; }\n",
        ".visible_not .func no();\n.extern",
    );
    let section = container(&[entry(1, 90, Pack::Plain, text.as_bytes(), 0)]);
    let mut links = DeviceLinks::default();
    let mut found = Found {
        kernels: &mut BTreeSet::new(),
        links: Some(&mut links),
    };
    read_section(
        Region::of(&section, 0),
        &mut Unpacker::default(),
        &mut Budget::of(section.len() as u64),
        &mut found,
    )
    .unwrap();
    let needs = [
        "_Z5childv",
        "_Z6helperi",
        "counter",
        "nothing_returned",
        "scratch",
        "table",
    ];
    assert_eq!(links.needs, names(&needs));
    let offers = ["_Z8exportedi", "a", "b", "kernel", "pointer", "twice"];
    assert_eq!(links.offers, names(&offers));
}
