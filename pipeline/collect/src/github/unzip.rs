//! Files of ours out of an archive whose names and sizes are anybody's.

use crate::names::{Place, ROOT, is_evidence, is_map, is_safe, place};
use kernrec_store::bundle::{MAX_BUNDLE_BYTES, MAX_ENTRIES};
use kernrec_store::fsio;
use std::collections::BTreeSet;
use std::io::{self, Read, Seek};
use std::path::{Path, PathBuf};
use zip::ZipArchive;

/// What an archive held.
#[derive(Debug, Default)]
pub(super) struct Unzipped {
    pub(super) has_recordings: bool,
    pub(super) bundles: Vec<PathBuf>,
    /// Job folders.
    pub(super) folders: BTreeSet<String>,
    pub(super) maps: Vec<PathBuf>,
    /// Names that would have been ours, and cannot be names of files.
    pub(super) unsafe_names: Vec<String>,
    /// Files that are none of ours.
    pub(super) ignored: u64,
}

/// Writes bundles and job folders below `recordings`, maps below `maps`.
pub(super) fn unzip(
    archive: impl Read + Seek,
    recordings: &Path,
    maps: &Path,
) -> Result<Unzipped, String> {
    let mut archive = ZipArchive::new(archive).map_err(|e| e.to_string())?;
    if archive.len() as u64 > MAX_ENTRIES {
        return Err(format!("it has more than {MAX_ENTRIES} files"));
    }
    let mut unzipped = Unzipped::default();
    let mut left = MAX_BUNDLE_BYTES;
    for index in 0..archive.len() {
        let mut entry = archive.by_index(index).map_err(|e| e.to_string())?;
        let name = String::from_utf8_lossy(entry.name_raw()).into_owned();
        if entry.is_dir() {
            continue;
        }
        if !is_safe(&name) || !entry.is_file() {
            if looks_like_ours(&name) {
                unzipped.unsafe_names.push(name);
            } else {
                unzipped.ignored += 1;
            }
            continue;
        }
        let Some(path) = unzipped.path_of(&name, recordings, maps) else {
            unzipped.ignored += 1;
            continue;
        };
        left = write(&mut entry, &path, left).map_err(|e| format!("`{name}`: {e}"))?;
    }
    Ok(unzipped)
}

fn looks_like_ours(name: &str) -> bool {
    let last = name.rsplit(['/', '\\']).next().unwrap_or(name);
    name.contains(ROOT) || is_evidence(last) || is_map(last) || last.ends_with(".tar.zst")
}

impl Unzipped {
    fn path_of(&mut self, name: &str, recordings: &Path, maps: &Path) -> Option<PathBuf> {
        if is_map(name) {
            let path = maps.join(name);
            self.maps.push(path.clone());
            return Some(path);
        }
        let path = match place(name) {
            Place::Bundle => {
                let path = recordings.join(ROOT).join(name.rsplit('/').next()?);
                self.bundles.push(path.clone());
                path
            }
            Place::InJob { folder, name } => {
                self.folders.insert(folder.to_owned());
                recordings.join(ROOT).join(folder).join(name)
            }
            Place::Other => return None,
        };
        self.has_recordings = true;
        Some(path)
    }
}

/// Writes a file that is not there yet; how many bytes may still be written.
fn write(entry: &mut impl Read, path: &Path, left: u64) -> Result<u64, String> {
    let folder = path.parent().unwrap_or(path);
    fsio::create_dir_all(folder).map_err(|e| e.to_string())?;
    let mut file = fs_err::File::create_new(path).map_err(|e| e.to_string())?;
    let written = io::copy(&mut entry.take(left + 1), &mut file).map_err(|e| e.to_string())?;
    left.checked_sub(written)
        .ok_or_else(|| format!("unpacked it is more than {MAX_BUNDLE_BYTES} bytes"))
}

#[cfg(test)]
mod tests {
    use super::unzip;
    use std::io::{Cursor, Write};
    use zip::ZipWriter;
    use zip::write::SimpleFileOptions;

    fn archive(files: &[(&str, &str)]) -> Cursor<Vec<u8>> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in files {
            writer
                .start_file(*name, SimpleFileOptions::default())
                .unwrap();
            writer.write_all(content.as_bytes()).unwrap();
        }
        let mut archive = writer.finish().unwrap();
        archive.set_position(0);
        archive
    }

    #[test]
    fn files_of_ours_and_no_others_are_written_below_the_folders() {
        let dir = tempfile::tempdir().unwrap();
        let (bundles, maps) = (dir.path().join("b/1"), dir.path().join("m/1"));
        let unzipped = unzip(
            archive(&[
                ("job-1/kern.7.txt", "k"),
                (".kernrec/job-1/kernrec.json", "{}"),
                ("ab.tar.zst", "bundle"),
                ("out/kernel_symbol_map.json.gz", "map"),
                ("../../up/kern.7.txt", "x"),
                ("/abs/kern.7.txt", "x"),
                ("job 2/kern.7.txt", "x"),
                ("a/b/c/log", "x"),
                ("core dump", "x"),
            ]),
            &bundles,
            &maps,
        )
        .unwrap();
        assert_eq!(
            (
                unzipped.bundles.len(),
                unzipped.folders.len(),
                unzipped.maps.len()
            ),
            (1, 1, 1)
        );
        assert_eq!(
            unzipped.unsafe_names.len(),
            3,
            "{:?}",
            unzipped.unsafe_names
        );
        assert_eq!(unzipped.ignored, 2);
        assert!(bundles.join(".kernrec/job-1/kernrec.json").is_file());
        assert!(bundles.join(".kernrec/job-1/kern.7.txt").is_file());
        let top: Vec<_> = fs_err::read_dir(dir.path()).unwrap().collect();
        assert_eq!(top.len(), 2, "nothing beside the two folders: {top:?}");
    }

    #[test]
    fn what_is_no_archive_or_damaged_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let whole = archive(&[("job-1/kern.7.txt", "recorded")]).into_inner();
        let refused = |bytes: Vec<u8>, n: usize| {
            let into = dir.path().join(n.to_string());
            unzip(Cursor::new(bytes), &into, &into).is_err()
        };
        assert!(refused(b"no archive".to_vec(), 0));
        assert!(refused(whole[..whole.len() / 2].to_vec(), 1));
        let twice = archive(&[
            ("job-1/kern.7.txt", "a"),
            (".kernrec/job-1/kern.7.txt", "b"),
        ]);
        assert!(refused(twice.into_inner(), 2), "two files of one name");
    }
}
