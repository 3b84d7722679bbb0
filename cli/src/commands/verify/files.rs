//! `kernrec verify files`: two files or two folders, by digest.
//!
//! Byte for byte first; where that differs, the content inside gzip or zstd is compared, because a digest here
//! is always one of uncompressed content.

use super::verdict;
use crate::args::verify::FilesArgs;
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, text};
use kernrec_schemas::Digest;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::id::Hasher;
use kernrec_schemas::json::MAX_RECORD_BYTES;
use kernrec_store::artifact;
use kernrec_store::fsio::FsError;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

pub(crate) fn run(args: &FilesArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let pairs = match (args.a.is_dir(), args.b.is_dir()) {
        (false, false) => vec![(display(&args.a), compare(&args.a, &args.b)?)],
        (true, true) => compare_folders(&args.a, &args.b)?,
        (true, false) => return Err(unlike(&args.a, &args.b)),
        (false, true) => return Err(unlike(&args.b, &args.a)),
    };
    let differ = pairs.iter().filter(|(_, pair)| !pair.is_same()).count();
    shell.summary(&summary(&pairs, differ), Form::of_flag(args.json))?;
    Ok(verdict(differ == 0))
}

/// How two entries compare.
enum Pair {
    Same(Digest),
    SameContent(Digest),
    Differ(Digest, Digest),
    OnlyInA,
    OnlyInB,
}

impl Pair {
    const fn is_same(&self) -> bool {
        matches!(self, Self::Same(_) | Self::SameContent(_))
    }
}

fn unlike(folder: &Path, file: &Path) -> CommandError {
    let (folder, file) = (folder.display(), file.display());
    CommandError::usage(format!(
        "`{folder}` is a folder and `{file}` is none: expected two files or two folders"
    ))
}

fn compare(a: &Path, b: &Path) -> Result<Pair, CommandError> {
    let (raw_a, raw_b) = (digest(a)?, digest(b)?);
    if raw_a == raw_b {
        return Ok(Pair::Same(raw_a));
    }
    if !(is_compressed(a)? || is_compressed(b)?) {
        return Ok(Pair::Differ(raw_a, raw_b));
    }
    let [a, b] = [content(a)?, content(b)?];
    Ok(if a == b {
        Pair::SameContent(a)
    } else {
        Pair::Differ(a, b)
    })
}

fn content(path: &Path) -> Result<Digest, CommandError> {
    Ok(Digest::of(&artifact::read(path, MAX_RECORD_BYTES)?))
}

/// The digest of a file's bytes as they are; of a symbolic link, that of its target's name.
fn digest(path: &Path) -> Result<Digest, CommandError> {
    if path.is_symlink() {
        let target = fs_err::read_link(path).map_err(FsError::on("read link", path))?;
        return Ok(Digest::of(target.as_os_str().as_bytes()));
    }
    let mut file = artifact::open(path)?;
    let (mut hasher, mut chunk) = (Hasher::new(), vec![0; 128 * 1024]);
    loop {
        match file.read(&mut chunk).map_err(FsError::on("read", path))? {
            0 => return Ok(hasher.digest()),
            n => hasher.update(&chunk[..n]),
        }
    }
}

fn is_compressed(path: &Path) -> Result<bool, CommandError> {
    if path.is_symlink() {
        return Ok(false);
    }
    let file = artifact::open(path)?;
    let mut head = Vec::new();
    file.take(4)
        .read_to_end(&mut head)
        .map_err(FsError::on("read", path))?;
    Ok(head.starts_with(&[0x1f, 0x8b]) || head == [0x28, 0xb5, 0x2f, 0xfd])
}

fn compare_folders(a: &Path, b: &Path) -> Result<Vec<(String, Pair)>, CommandError> {
    let (in_a, in_b) = (entries(a)?, entries(b)?);
    let names: BTreeSet<&PathBuf> = in_a.keys().chain(in_b.keys()).collect();
    let mut pairs = Vec::with_capacity(names.len());
    for name in names {
        let pair = match (in_a.get(name), in_b.get(name)) {
            (Some(a), Some(b)) => compare(a, b)?,
            (Some(_), None) => Pair::OnlyInA,
            _ => Pair::OnlyInB,
        };
        pairs.push((display(name), pair));
    }
    Ok(pairs)
}

/// Every file and link below a folder, by relative path. Links are compared, never followed.
fn entries(root: &Path) -> Result<BTreeMap<PathBuf, PathBuf>, CommandError> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in fs_err::read_dir(&folder).map_err(FsError::on("list", &folder))? {
            let entry = entry.map_err(FsError::on("list", &folder))?;
            let path = entry.path();
            let kind = entry.file_type().map_err(FsError::on("look at", &path))?;
            if kind.is_dir() {
                folders.push(path);
            } else if kind.is_file() || kind.is_symlink() {
                let name = path.strip_prefix(root).unwrap_or(&path).to_path_buf();
                found.insert(name, path);
            }
        }
    }
    Ok(found)
}

fn summary(pairs: &[(String, Pair)], differ: usize) -> Summary {
    let title = if differ == 0 { "same" } else { "different" };
    let mut summary = Summary::new("verify-files", title);
    summary.fact("same", differ == 0);
    summary.fact("compared", pairs.len());
    summary.fact("different", differ);
    let columns = &["file", "verdict", "digest_a", "digest_b"];
    let mut section = Section::new("files", "file by file", columns, usize::MAX);
    for (name, pair) in pairs {
        let (verdict, a, b) = match pair {
            Pair::Same(digest) => ("same", Some(digest), None),
            Pair::SameContent(digest) => ("same-content", Some(digest), None),
            Pair::Differ(a, b) => ("different", Some(a), Some(b)),
            Pair::OnlyInA => ("only-in-a", None, None),
            Pair::OnlyInB => ("only-in-b", None, None),
        };
        let shown = |digest: Option<&Digest>| text(digest.map_or(String::new(), Digest::to_string));
        section.row([text(name), text(verdict), shown(a), shown(b)]);
    }
    summary.section(section);
    summary
}

fn display(path: &Path) -> String {
    path.display().to_string()
}
