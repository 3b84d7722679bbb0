//! Reading a bundle: streamed, everything checked, nothing written.

use super::header::{self, BLOCK, Block};
use super::inflate::{Fault, Inflate, Scratch};
use super::limits::MAX_ENTRIES;
use super::{BundleError, BundleMeta, Place, Refusal, file, names, part};
use crate::fsio::plain;
use kernrec_schemas::Digest;
use std::cell::Cell;
use std::io::Read;
use std::path::Path;

/// What a bundle was, once it has been read to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleSummary {
    /// What it says of itself.
    pub meta: BundleMeta,
    /// The digest of the archive.
    pub digest: Digest,
    /// The archive's size in bytes, uncompressed.
    pub size: u64,
}

/// Reads a bundle and hands every entry, `bundle.json` first, to `visit` as name and content.
///
/// `source` names the bundle in errors. Each entry is whole in memory, one at a time. Entries are handed over
/// while the rest is still unread: on an error, whatever `visit` collected must be thrown away.
pub fn read<R: Read>(
    source: &str,
    reader: R,
    visit: &mut dyn FnMut(&str, &[u8]),
) -> Result<BundleSummary, BundleError> {
    // Taken out of its place while in use, so a `visit` that reads another bundle gets one of its own.
    let (mut scratch, mut content) = SPARE
        .take()
        .unwrap_or_else(|| (Box::new(Scratch::new()), Vec::new()));
    let mut walk = Walk::default();
    let result = walk.archive(reader, &mut scratch, &mut content, visit);
    if content.capacity() <= KEPT_CAPACITY {
        SPARE.set(Some((scratch, content)));
    }
    result.map_err(|fault| match fault {
        Fault::Source(error) => BundleError::Source {
            bundle: source.to_owned(),
            source: plain(error),
        },
        Fault::Refused(place, refusal) => BundleError::Refused {
            bundle: source.to_owned(),
            entry: walk.entry,
            place,
            refusal: Box::new(refusal),
        },
    })
}

/// Reads a bundle file. One that is named `<64 hex>.tar.zst` must have that digest.
pub fn read_file(
    path: &Path,
    visit: &mut dyn FnMut(&str, &[u8]),
) -> Result<BundleSummary, BundleError> {
    let file = file::open_bundle(path)?;
    let bundle = path.display().to_string();
    let summary = read(&bundle, file, visit)?;
    match digest_in_name(path) {
        Some(named) if named != summary.digest => Err(BundleError::Refused {
            bundle,
            entry: None,
            place: Place::Archive(summary.size),
            refusal: Box::new(Refusal::DigestMismatch {
                named,
                found: summary.digest,
            }),
        }),
        _ => Ok(summary),
    }
}

/// The file name of a bundle with this digest.
pub(super) fn file_name(digest: &Digest) -> String {
    format!("{}{SUFFIX}", digest.hex())
}

/// How the names of bundle files end.
pub(super) const SUFFIX: &str = ".tar.zst";

/// A reader that met a large entry gives its memory back instead of keeping it for the next bundle.
const KEPT_CAPACITY: usize = 4 << 20;

thread_local! {
    static SPARE: Cell<Option<(Box<Scratch>, Vec<u8>)>> = const { Cell::new(None) };
}

fn digest_in_name(path: &Path) -> Option<Digest> {
    let name = path.file_name()?.to_str()?;
    Digest::from_hex(name.strip_suffix(SUFFIX)?).ok()
}

/// The state of one pass over an archive.
#[derive(Default)]
struct Walk {
    /// The entry being read, as errors show it.
    entry: Option<String>,
    previous: String,
    entries: u64,
    meta: Option<BundleMeta>,
    /// A sidecar or a recording was met.
    says_something: bool,
}

impl Walk {
    fn archive<R: Read>(
        &mut self,
        reader: R,
        scratch: &mut Scratch,
        content: &mut Vec<u8>,
        visit: &mut dyn FnMut(&str, &[u8]),
    ) -> Result<BundleSummary, Fault> {
        let mut archive = Inflate::open(reader, scratch)?;
        let mut block: Block = [0; BLOCK];
        loop {
            let at = archive.position();
            archive.read_exact(&mut block)?;
            if block == [0; BLOCK] {
                return self.end(archive, at);
            }
            self.entry(&mut archive, &block, at, content)?;
            visit(&self.previous, content);
        }
    }

    /// Checks a header and reads its content.
    fn entry<R: Read>(
        &mut self,
        archive: &mut Inflate<'_, R>,
        block: &Block,
        at: u64,
        content: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let refused = |refusal| Fault::Refused(Place::Archive(at), refusal);
        let entry = header::decode(block)
            .and_then(|entry| self.in_order(entry.name).map(|()| entry))
            .map_err(|refusal| {
                self.entry = Some(header::shown_name(block));
                refused(refusal)
            })?;
        self.entry = None;
        self.previous.clear();
        self.previous.push_str(entry.name);
        let padded = header::padded(entry.size);
        content.clear();
        let result = if archive.position() + padded > archive.declared() {
            Err(refused(Refusal::Truncated))
        } else {
            self.content(archive, entry.size, padded, content)
        };
        if result.is_err() {
            self.entry = Some(names::shown(self.previous.as_bytes()));
        }
        result
    }

    fn in_order(&mut self, name: &str) -> Result<(), Refusal> {
        self.entries += 1;
        if self.entries > MAX_ENTRIES {
            return Err(Refusal::TooManyEntries);
        }
        if (self.entries == 1) != (name == names::META) {
            // The first name of all in byte order, so elsewhere it is a repetition or out of order.
            return Err(match self.entries {
                1 => Refusal::NoMeta,
                _ if self.previous == name => Refusal::DuplicateName,
                _ => Refusal::Unsorted,
            });
        }
        match self.previous.as_str().cmp(name) {
            std::cmp::Ordering::Less => Ok(()),
            std::cmp::Ordering::Equal => Err(Refusal::DuplicateName),
            std::cmp::Ordering::Greater => Err(Refusal::Unsorted),
        }
    }

    fn content<R: Read>(
        &mut self,
        archive: &mut Inflate<'_, R>,
        size: u64,
        padded: u64,
        content: &mut Vec<u8>,
    ) -> Result<(), Fault> {
        let at = archive.position();
        archive.append(size, content)?;
        let mut padding: Block = [0; BLOCK];
        let padding = &mut padding[..usize::try_from(padded - size).unwrap_or(0)];
        archive.read_exact(padding)?;
        if padding.iter().any(|&b| b != 0) {
            let refusal = Refusal::NotCanonical("bytes between two entries");
            return Err(Fault::Refused(Place::Archive(at + size), refusal));
        }
        if self.meta.is_none() {
            let meta = BundleMeta::parse(content)
                .map_err(|e| Fault::Refused(Place::Archive(at), Refusal::Meta(e)))?;
            self.meta = Some(meta);
        }
        self.says_something |= part::is_evidence(self.previous.as_bytes());
        Ok(())
    }

    /// After the first zero block, which stands at `at`.
    fn end<R: Read>(
        &mut self,
        mut archive: Inflate<'_, R>,
        at: u64,
    ) -> Result<BundleSummary, Fault> {
        self.entry = None;
        let mut block: Block = [0; BLOCK];
        let second = archive.position();
        archive.read_exact(&mut block)?;
        let end = archive.position();
        if block != [0; BLOCK] {
            let place = Place::Archive(second);
            return Err(Fault::Refused(place, Refusal::TrailingData));
        }
        if end != archive.declared() {
            return Err(Fault::Refused(Place::Archive(end), Refusal::TrailingData));
        }
        let digest = archive.finish()?;
        let refused = |refusal| Fault::Refused(Place::Archive(at), refusal);
        let meta = self.meta.take().ok_or_else(|| refused(Refusal::NoMeta))?;
        if !self.says_something {
            return Err(refused(Refusal::Empty));
        }
        Ok(BundleSummary {
            meta,
            digest,
            size: end,
        })
    }
}
