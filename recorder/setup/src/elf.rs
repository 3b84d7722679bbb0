//! What a program or a library is, as far as preloading depends on it.

use object::Endianness;
use object::elf::{DT_NEEDED, FileHeader64, SHT_DYNSYM};
use object::read::elf::{FileHeader as _, ProgramHeader as _, SectionTable, Sym as _};
use object::read::{ReadCache, ReadRef};
use std::io;
use std::path::Path;

/// `e_machine` of the architecture this program is for.
#[cfg(target_arch = "x86_64")]
const MACHINE: u16 = 62;
#[cfg(target_arch = "aarch64")]
const MACHINE: u16 = 183;

/// Names of dynamic symbols that a program built with a sanitizer has.
const SANITIZER_SYMBOLS: [&[u8]; 6] = [
    b"__asan_init",
    b"__hwasan_init",
    b"__lsan_init",
    b"__msan_init",
    b"__tsan_init",
    b"__sanitizer_report_error_summary",
];

/// What was read of an ELF file.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Elf {
    /// `None` for the architecture this program is for, else another one's description.
    pub(crate) foreign: Option<String>,
    /// The loader it asks for.
    pub(crate) interpreter: Option<String>,
    /// It asks for a sanitizer's library, or holds one.
    pub(crate) sanitizer: Option<String>,
}

impl Elf {
    /// Asks for the C library musl, which takes preloaded libraries made for glibc for an error.
    pub(crate) fn is_musl(&self) -> bool {
        let name = self.interpreter.as_deref().unwrap_or_default();
        name.rsplit('/')
            .next()
            .is_some_and(|name| name.starts_with("ld-musl"))
    }
}

/// True for the file name of a sanitizer's library.
pub(crate) fn is_sanitizer(name: &str) -> bool {
    let name = name.rsplit('/').next().unwrap_or(name);
    [
        "libasan.so",
        "libhwasan.so",
        "liblsan.so",
        "libtsan.so",
        "libubsan.so",
        "libmsan.so",
    ]
    .iter()
    .any(|prefix| name.starts_with(prefix))
        || name.starts_with("libclang_rt.") && name.contains("san")
}

/// Reads a file; `None` when it is no ELF file. What cannot be made out of it is left open.
pub(crate) fn read(path: &Path) -> io::Result<Option<Elf>> {
    // Not a FIFO or a device, which would block or do something when opened.
    if !fs_err::metadata(path)?.is_file() {
        return Ok(None);
    }
    let file = fs_err::File::open(path)?.into_file();
    let cache = ReadCache::new(&file);
    let Ok(start) = cache.read_bytes_at(0, 20) else {
        return Ok(None);
    };
    if !start.starts_with(b"\x7fELF") {
        return Ok(None);
    }
    let machine = match start[5] {
        2 => u16::from_be_bytes([start[18], start[19]]),
        _ => u16::from_le_bytes([start[18], start[19]]),
    };
    if (start[4], start[5], machine) != (2, 1, MACHINE) {
        let bits = if start[4] == 2 { 64 } else { 32 };
        return Ok(Some(Elf {
            foreign: Some(format!("a {bits}-bit machine of number {machine}")),
            ..Elf::default()
        }));
    }
    Ok(Some(details(&cache)))
}

fn details<'data>(data: impl ReadRef<'data>) -> Elf {
    let mut elf = Elf::default();
    let Ok(header) = FileHeader64::<Endianness>::parse(data) else {
        return elf;
    };
    let Ok(endian) = header.endian() else {
        return elf;
    };
    for segment in header.program_headers(endian, data).unwrap_or_default() {
        if let Ok(Some(name)) = segment.interpreter(endian, data) {
            elf.interpreter = Some(String::from_utf8_lossy(name).into_owned());
        }
    }
    if let Ok(sections) = header.sections(endian, data) {
        elf.sanitizer = needed(&sections, endian, data)
            .into_iter()
            .find(|name| is_sanitizer(name))
            .or_else(|| sanitizer_symbol(&sections, endian, data));
    }
    elf
}

type Sections<'data, R> = SectionTable<'data, FileHeader64<Endianness>, R>;

fn needed<'data, R: ReadRef<'data>>(
    sections: &Sections<'data, R>,
    endian: Endianness,
    data: R,
) -> Vec<String> {
    let Ok(Some((entries, strings))) = sections.dynamic(endian, data) else {
        return Vec::new();
    };
    let Ok(strings) = sections.strings(endian, data, strings) else {
        return Vec::new();
    };
    entries
        .iter()
        .filter(|entry| entry.d_tag.get(endian) == DT_NEEDED)
        .filter_map(|entry| u32::try_from(entry.d_val.get(endian)).ok())
        .filter_map(|offset| strings.get(offset).ok())
        .map(|name| String::from_utf8_lossy(name).into_owned())
        .collect()
}

fn sanitizer_symbol<'data, R: ReadRef<'data>>(
    sections: &Sections<'data, R>,
    endian: Endianness,
    data: R,
) -> Option<String> {
    let symbols = sections.symbols(endian, data, SHT_DYNSYM).ok()?;
    symbols
        .iter()
        .filter_map(|symbol| symbol.name(endian, symbols.strings()).ok())
        .find(|name| SANITIZER_SYMBOLS.contains(name))
        .map(|name| String::from_utf8_lossy(name).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_program_is_of_this_machine() {
        let elf = read(&std::env::current_exe().unwrap()).unwrap().unwrap();
        assert_eq!(elf.foreign, None);
        assert_eq!(elf.sanitizer, None);
        assert!(elf.interpreter.is_some());
    }

    #[test]
    fn another_architecture_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lib.so");
        let mut header = b"\x7fELF\x02\x01\x01".to_vec();
        header.resize(64, 0);
        header[18] = 0xf3;
        fs_err::write(&path, header).unwrap();
        let elf = read(&path).unwrap().unwrap();
        assert_eq!(
            elf.foreign.as_deref(),
            Some("a 64-bit machine of number 243")
        );
    }

    #[test]
    fn anything_else_is_no_elf_file() {
        let folder = tempfile::tempdir().unwrap();
        for (name, content) in [("a", &b""[..]), ("b", b"#!/bin/sh\n"), ("c", b"\x7fELF")] {
            let path = folder.path().join(name);
            fs_err::write(&path, content).unwrap();
            assert_eq!(read(&path).unwrap(), None);
        }
        assert_eq!(read(folder.path()).unwrap(), None);
    }

    #[test]
    fn sanitizers_are_known_by_name() {
        for name in [
            "libasan.so.8",
            "/usr/lib/libtsan.so.2",
            "libclang_rt.asan-x86_64.so",
        ] {
            assert!(is_sanitizer(name), "{name}");
        }
        for name in ["libsanta.so", "libc.so.6", "libclang_rt.builtins.so"] {
            assert!(!is_sanitizer(name), "{name}");
        }
    }
}
