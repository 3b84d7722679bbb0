//! Where a file that the compiler read comes from: the tree, a copy, a translation or a generator.

use super::files::Files;
use super::folder::Folder;
use super::hipify::{self, HipNames};
use super::recipe::Problem;
use kernrec_schemas::Backend;
use std::collections::{BTreeSet, HashMap};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, OnceLock, PoisonError};

/// Generators of generators: deeper chains than any build has.
const MAX_DEPTH: u32 = 16;

/// Where one file comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Origin {
    /// The file is its own origin, as far as is known.
    Itself,
    /// The one file it was copied or translated from.
    Of(PathBuf),
    /// Everything that the step that makes it reads.
    Made(BTreeSet<PathBuf>),
}

/// Answers where files come from.
#[derive(Debug)]
pub(crate) struct Origins<'a> {
    pub(crate) backend: Backend,
    /// Real paths.
    pub(crate) source_root: &'a Path,
    pub(crate) build_roots: &'a [PathBuf],
    pub(crate) folders: &'a [Folder],
    pub(crate) files: &'a Files,
    hip_names: OnceLock<HipNames>,
    /// Thousands of objects read the same headers.
    known: Mutex<HashMap<PathBuf, Result<Origin, Problem>>>,
}

impl<'a> Origins<'a> {
    pub(crate) fn new(
        backend: Backend,
        source_root: &'a Path,
        build_roots: &'a [PathBuf],
        folders: &'a [Folder],
        files: &'a Files,
    ) -> Self {
        Self {
            backend,
            source_root,
            build_roots,
            folders,
            files,
            hip_names: OnceLock::new(),
            known: Mutex::default(),
        }
    }

    /// Where `file` (a real path) comes from. What claims to be translated must have its original.
    pub(crate) fn of(&self, file: &Path) -> Result<Origin, Problem> {
        let lock = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(origin) = lock().get(file) {
            return origin.clone();
        }
        let origin = self.find(file);
        lock().insert(file.to_owned(), origin.clone());
        origin
    }

    fn find(&self, file: &Path) -> Result<Origin, Problem> {
        let built = self.build_roots.iter().any(|root| file.starts_with(root));
        let ours = built || file.starts_with(self.source_root);
        if !ours {
            return Ok(Origin::Itself);
        }
        if self.backend == Backend::Rocm
            && let Some(original) = self.hipified(file, built)?
        {
            return Ok(Origin::Of(original));
        }
        if !built {
            return Ok(Origin::Itself);
        }
        if let Some(original) = self.copied(file) {
            return Ok(Origin::Of(original));
        }
        self.made(file)
    }

    fn hipified(&self, file: &Path, built: bool) -> Result<Option<PathBuf>, Problem> {
        let stem = file
            .file_stem()
            .map(|stem| stem.to_string_lossy())
            .unwrap_or_default();
        let called =
            built && (stem.ends_with("_hip") || file.extension().is_some_and(|it| it == "hip"));
        let marked = hipify::is_marked(file);
        if !marked && !called {
            return Ok(None);
        }
        let names = self
            .hip_names
            .get_or_init(|| HipNames::index(self.source_root, self.build_roots));
        for relative in self.relatives(file) {
            match names.originals(&relative) {
                [] => {}
                [original] => return self.fresh(file, original).map(Some),
                [first, second, ..] => {
                    let text = format!(
                        "`{}` could be a translation of `{}` or of `{}`",
                        file.display(),
                        first.display(),
                        second.display()
                    );
                    return Err(Problem::new("ambiguous-provenance", text));
                }
            }
        }
        if !marked {
            // HIP code of the project's own may be called `.hip`; copies and generators are asked next.
            return Ok(None);
        }
        let text = format!(
            "`{}` was translated from a file that is not found",
            file.display()
        );
        Err(Problem::new("no-provenance", text))
    }

    /// A translation older than its original does not say what the original says now.
    fn fresh(&self, file: &Path, original: &Path) -> Result<PathBuf, Problem> {
        let time = |path: &Path| self.files.known(path).map(|known| known.modified);
        if time(original) <= time(file) {
            return Ok(original.to_owned());
        }
        let text = format!(
            "`{}` is older than `{}`",
            file.display(),
            original.display()
        );
        Err(Problem::new("stale-translation", text))
    }

    /// A file of the same place in the tree with the same content.
    fn copied(&self, file: &Path) -> Option<PathBuf> {
        self.relatives(file).find_map(|relative| {
            let original = self.source_root.join(relative);
            let known = self.files.known(&original)?;
            (known.real != file && same_content(&original, file)?).then_some(original)
        })
    }

    /// What the build file's statement for `file` reads, down to files of the tree.
    fn made(&self, file: &Path) -> Result<Origin, Problem> {
        let mut found = Leaves::default();
        if self.leaves(file, &mut found, MAX_DEPTH)? {
            return Ok(Origin::Made(found.files));
        }
        Ok(Origin::Itself)
    }

    /// Adds what `file` is made from; `false` when nothing makes it.
    fn leaves(&self, file: &Path, found: &mut Leaves, depth: u32) -> Result<bool, Problem> {
        let Some((folder, edge)) = self
            .folders
            .iter()
            .find_map(|folder| Some((folder, folder.maker(file)?)))
        else {
            return Ok(false);
        };
        let nothing = |text: String| Problem::new("no-provenance", text);
        let Some(depth) = depth.checked_sub(1) else {
            let text = format!(
                "`{}` is made in more than {MAX_DEPTH} steps",
                file.display()
            );
            return Err(nothing(text));
        };
        let inputs = edge.inputs.iter().chain(&edge.implicit);
        let mut some = false;
        for input in inputs.map(|input| folder.absolute(input)) {
            some = true;
            // Generators share what they read: each is followed once, or a small build file would take years.
            if found.followed.contains(&input) {
                continue;
            }
            if self.leaves(&input, found, depth)? {
                found.followed.insert(input);
            } else {
                found.files.insert(input);
            }
        }
        if some {
            return Ok(true);
        }
        let text = format!(
            "`{}` is generated from files that the build does not name",
            file.display()
        );
        Err(nothing(text))
    }

    /// `file` relative to each folder that mirrors the source tree.
    fn relatives(&self, file: &Path) -> impl Iterator<Item = PathBuf> {
        let roots = self.folders.iter().map(|folder| folder.path.as_path());
        let roots = roots.chain(self.build_roots.iter().map(PathBuf::as_path));
        let found: BTreeSet<PathBuf> = roots
            .chain([self.source_root])
            .filter_map(|root| file.strip_prefix(root).ok().map(Path::to_owned))
            .collect();
        // Shortest first: relative to the innermost folder.
        let mut found: Vec<PathBuf> = found.into_iter().collect();
        found.sort_by_key(|path| path.components().count());
        found.into_iter()
    }
}

/// What a generated file is made from.
#[derive(Debug, Default)]
struct Leaves {
    /// Files that nothing makes.
    files: BTreeSet<PathBuf>,
    /// Made files whose own inputs are in.
    followed: BTreeSet<PathBuf>,
}

/// Whether two files hold the same bytes; `None` when one cannot be read. Neither is held as a whole.
fn same_content(a: &Path, b: &Path) -> Option<bool> {
    let length = |path: &Path| Some(fs_err::metadata(path).ok()?.len());
    if length(a)? != length(b)? {
        return Some(false);
    }
    let open = |path: &Path| Some(BufReader::new(fs_err::File::open(path).ok()?));
    let (mut a, mut b) = (open(a)?, open(b)?);
    loop {
        let (left, right) = (a.fill_buf().ok()?, b.fill_buf().ok()?);
        let both = left.len().min(right.len());
        if both == 0 {
            return Some(left.len() == right.len());
        }
        if left[..both] != right[..both] {
            return Some(false);
        }
        a.consume(both);
        b.consume(both);
    }
}
