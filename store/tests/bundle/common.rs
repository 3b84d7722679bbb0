//! Archives made with another tar writer than the one under test, so that neither vouches for itself.

use kernrec_store::bundle::{self, BundleError, BundleSummary, JobFolder, OriginLayout};
use std::io::{Read, Write};
use std::path::Path;

pub(crate) const META: &[u8] =
    br#"{"schema":"kernrec.bundle/1","job_id":"j-1","step_key":"demo","layout":"in-build"}"#;
pub(crate) const RECORDING: &[u8] =
    b"# kernrec v1 pid=1 ppid=1 exe=/x\n_Z4demov\n# end records=1 unique=1 dropped=0\n";

/// A header as the `tar` crate makes it, with the checksum in the traditional form (six digits, NUL, space).
pub(crate) struct Head(pub(crate) [u8; 512]);

impl Head {
    pub(crate) fn new(name: &[u8], size: u64) -> Self {
        let mut header = tar::Header::new_ustar();
        header.set_entry_type(tar::EntryType::Regular);
        header.set_mode(0o644);
        header.set_uid(0);
        header.set_gid(0);
        header.set_mtime(0);
        header.set_size(size);
        header.set_device_major(0).unwrap();
        header.set_device_minor(0).unwrap();
        let mut bytes = *header.as_bytes();
        bytes[..name.len()].copy_from_slice(name);
        Self(bytes).sealed()
    }

    /// Overwrites bytes and makes the checksum right again.
    pub(crate) fn with(mut self, at: usize, bytes: &[u8]) -> Self {
        self.0[at..at + bytes.len()].copy_from_slice(bytes);
        self.sealed()
    }

    pub(crate) fn kind(self, kind: u8) -> Self {
        self.with(156, &[kind])
    }

    fn sealed(mut self) -> Self {
        self.0[148..156].fill(b' ');
        let sum: u32 = self.0.iter().copied().map(u32::from).sum();
        self.0[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        self
    }
}

/// An archive under construction.
#[derive(Clone, Default)]
pub(crate) struct Tar(pub(crate) Vec<u8>);

impl Tar {
    /// Starts with the canonical `bundle.json`.
    pub(crate) fn with_meta() -> Self {
        Self::default().file(b"bundle.json", META)
    }

    pub(crate) fn file(self, name: &[u8], content: &[u8]) -> Self {
        self.entry(&Head::new(name, content.len() as u64), content)
    }

    pub(crate) fn entry(mut self, head: &Head, content: &[u8]) -> Self {
        self.0.extend_from_slice(&head.0);
        self.0.extend_from_slice(content);
        self.0.resize(self.0.len().next_multiple_of(512), 0);
        self
    }

    pub(crate) fn raw(mut self, bytes: &[u8]) -> Self {
        self.0.extend_from_slice(bytes);
        self
    }

    /// The two zero blocks, and the frame round it all.
    pub(crate) fn bundle(self) -> Vec<u8> {
        compress(&self.raw(&[0; 1024]).0)
    }

    pub(crate) fn len(&self) -> u64 {
        self.0.len() as u64
    }
}

pub(crate) fn compress(archive: &[u8]) -> Vec<u8> {
    let mut encoder = zstd::Encoder::new(Vec::new(), 3).unwrap();
    encoder.include_checksum(true).unwrap();
    encoder
        .set_pledged_src_size(Some(archive.len() as u64))
        .unwrap();
    encoder.write_all(archive).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn decompress(frame: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    zstd::Decoder::new(frame)
        .unwrap()
        .read_to_end(&mut out)
        .unwrap();
    out
}

pub(crate) type Entries = Vec<(String, Vec<u8>)>;

/// Reads a bundle; what was visited comes back with an error too.
pub(crate) fn read(bytes: &[u8]) -> (Result<BundleSummary, BundleError>, Entries) {
    let mut entries = Vec::new();
    let result = bundle::read("the-bundle", bytes, &mut |name, content| {
        entries.push((name.to_owned(), content.to_vec()));
    });
    (result, entries)
}

/// The archive that holds these entries, made with the other writer.
pub(crate) fn canonical(entries: &[(String, Vec<u8>)]) -> Vec<u8> {
    let tar = entries.iter().fold(Tar::default(), |tar, (name, content)| {
        tar.file(name.as_bytes(), content)
    });
    tar.raw(&[0; 1024]).0
}

/// A job folder with these files.
pub(crate) fn job(dir: &Path, files: &[(&str, &[u8])]) -> JobFolder {
    fs_err::create_dir_all(dir).unwrap();
    for (name, content) in files {
        fs_err::write(dir.join(name), content).unwrap();
    }
    JobFolder::open(dir, OriginLayout::InBuild)
}

/// The names in a folder, sorted.
pub(crate) fn names(dir: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs_err::read_dir(dir)
        .unwrap()
        .map(|item| item.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

pub(crate) fn mkfifo(path: &Path) {
    let status = std::process::Command::new("mkfifo").arg(path).status();
    assert!(status.unwrap().success());
}
