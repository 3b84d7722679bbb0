//! Real objects, damaged: an error that names the object, never a panic, a hang or a wrong backend's names.

#![expect(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

mod toolchain;

use kernrec_schemas::Backend;
use kernrec_symbols::{DeviceCode, read_object};
use std::path::{Path, PathBuf};
use tempfile::TempDir;
use toolchain::{compile_cuda, compile_hip, source};

struct Sample {
    folder: TempDir,
    backend: Backend,
    bytes: Vec<u8>,
    whole: DeviceCode,
}

impl Sample {
    fn new(backend: Backend, object: &Path, folder: TempDir) -> Self {
        let whole = read_object(object, backend).unwrap();
        assert!(!whole.symbols.is_empty());
        Self {
            bytes: fs_err::read(object).unwrap(),
            folder,
            backend,
            whole,
        }
    }

    fn cuda(flags: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let object = folder.path().join("whole.o");
        compile_cuda(&source("cuda/mixed.cu"), &object, flags);
        Self::new(Backend::Cuda, &object, folder)
    }

    fn rocm(flags: &[&str]) -> Self {
        let folder = TempDir::new().unwrap();
        let object = folder.path().join("whole.o");
        compile_hip(&source("hip/mixed.hip"), &object, flags);
        Self::new(Backend::Rocm, &object, folder)
    }

    fn write(&self, bytes: &[u8]) -> PathBuf {
        let path = self.folder.path().join("damaged.o");
        fs_err::write(&path, bytes).unwrap();
        path
    }

    /// The result for damaged bytes; an error must name the object.
    fn read(&self, bytes: &[u8]) -> Option<DeviceCode> {
        let path = self.write(bytes);
        match read_object(&path, self.backend) {
            Ok(code) => Some(code),
            Err(error) => {
                let text = error.to_string();
                assert!(text.contains(&path.display().to_string()), "{text}");
                assert!(text.contains("offset 0x"), "{text}");
                None
            }
        }
    }

    /// An object whose header denies its section table would pass as a host object.
    fn without_a_section_table(&self) {
        let mut bytes = self.bytes.clone();
        bytes[40..48].fill(0);
        bytes[60..64].fill(0);
        assert_eq!(self.read(&bytes), None);
    }

    fn truncated_everywhere(&self) {
        for cut in (0..self.bytes.len()).step_by(64) {
            // The section table is last, so nothing can be read of a truncated object.
            assert_eq!(self.read(&self.bytes[..cut]), None, "cut at {cut}");
        }
    }

    /// One bit of every byte of a stride that meets every position of a word; counts what was noticed.
    fn flipped_everywhere(&self) {
        let mut noticed = 0;
        for (round, at) in (0..self.bytes.len()).step_by(61).enumerate() {
            let mut bytes = self.bytes.clone();
            bytes[at] ^= 1 << (round % 8);
            noticed += u32::from(self.read(&bytes).as_ref() != Some(&self.whole));
        }
        assert!(noticed > 0);
    }
}

#[test]
fn truncated_cuda_objects() {
    Sample::cuda(&["-arch=sm_80"]).truncated_everywhere();
    Sample::cuda(&["-arch=sm_80", "-rdc=true", "--compress-mode=speed"]).truncated_everywhere();
}

#[test]
fn truncated_rocm_objects() {
    let flags = ["--offload-arch=gfx942", "--offload-compress"];
    Sample::rocm(&flags).truncated_everywhere();
    Sample::rocm(&flags[..1]).truncated_everywhere();
}

#[test]
fn an_object_without_a_section_table_is_no_host_object() {
    Sample::cuda(&["-arch=sm_80"]).without_a_section_table();
    Sample::rocm(&["--offload-arch=gfx942"]).without_a_section_table();
}

/// Bytes that were lost or doubled before it leave the header pointing beside the table.
#[test]
fn a_section_table_that_was_moved_is_noticed() {
    let sample = Sample::cuda(&["-arch=sm_80"]);
    let table = u64_at(&sample.bytes, 0x28);
    for moved in (table - 256..table + 256)
        .step_by(4)
        .filter(|at| *at != table)
    {
        let mut bytes = sample.bytes.clone();
        bytes[0x28..0x30].copy_from_slice(&moved.to_le_bytes());
        assert_eq!(sample.read(&bytes), None, "at {moved:#x}, not {table:#x}");
    }
}

#[test]
fn flipped_bits_in_cuda_objects() {
    Sample::cuda(&["-arch=sm_80"]).flipped_everywhere();
    Sample::cuda(&["-arch=sm_80", "-rdc=true", "--compress-mode=size"]).flipped_everywhere();
}

#[test]
fn flipped_bits_in_rocm_objects() {
    let flags = ["--offload-arch=gfx942", "--offload-compress"];
    Sample::rocm(&flags).flipped_everywhere();
    Sample::rocm(&flags[..1]).flipped_everywhere();
}

#[test]
fn any_flipped_bit_of_a_compressed_bundle_is_noticed() {
    let sample = Sample::rocm(&["--offload-arch=gfx942", "--offload-compress"]);
    let start = sample
        .bytes
        .windows(4)
        .position(|window| window == b"CCOB")
        .unwrap();
    for at in (start + 16..start + 400).step_by(7) {
        let mut bytes = sample.bytes.clone();
        bytes[at] ^= 0x10;
        assert_eq!(sample.read(&bytes), None, "at {at}");
    }
}

#[test]
fn device_sections_that_overlap_or_leave_the_file() {
    let sample = Sample::cuda(&["-arch=sm_80"]);
    let headers = usize::try_from(u64_at(&sample.bytes, 0x28)).unwrap();
    let named = |wanted: u64| {
        (headers..sample.bytes.len())
            .step_by(64)
            .find(|&at| u64_at(&sample.bytes, at + 0x18) == wanted)
            .unwrap()
    };
    let magic = 0xBA55_ED50_u32.to_le_bytes();
    let start = sample
        .bytes
        .windows(4)
        .position(|window| window == magic)
        .unwrap() as u64;
    let section = named(start);
    for (field, value) in [
        (0x18, u64::MAX),
        (0x18, 1 << 40),
        (0x20, u64::MAX),
        (0x20, 1 << 40),
    ] {
        let mut bytes = sample.bytes.clone();
        bytes[section + field..section + field + 8].copy_from_slice(&u64::to_le_bytes(value));
        assert_eq!(sample.read(&bytes), None, "{field:#x} = {value:#x}");
    }
    // A second section header of the same name and place.
    let mut bytes = sample.bytes.clone();
    let twin = section
        .checked_add(64)
        .filter(|at| at + 64 <= bytes.len())
        .unwrap();
    let copy = bytes[section..section + 64].to_vec();
    bytes[twin..twin + 64].copy_from_slice(&copy);
    assert_eq!(sample.read(&bytes), None);
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap())
}

#[test]
fn what_is_no_object_is_an_error() {
    let sample = Sample::cuda(&["-arch=sm_80"]);
    for bytes in [
        &b""[..],
        b"\x7fELF",
        b"BC\xC0\xDE1234",
        b"!<arch>\nnonsense",
        b"!<thin>\n",
        b"text\n",
    ] {
        assert_eq!(sample.read(bytes), None, "{bytes:?}");
    }
    let folder = sample.folder.path().to_path_buf();
    assert_eq!(
        read_object(&folder, Backend::Cuda).unwrap_err().reason(),
        "unsupported"
    );
    let missing = folder.join("missing.o");
    assert_eq!(
        read_object(&missing, Backend::Cuda).unwrap_err().reason(),
        "unreadable-file"
    );
}
