//! Changing a job's state, its sidecar and its bundle together.

use super::folder;
use super::state::State;
use crate::reason::Unavailable;
use kernrec_schemas::json::MAX_SMALL_BYTES;
use kernrec_store::bundle::{self, BundleError, JobFolder, OriginLayout, PackOptions, Part};
use kernrec_store::fsio::{self, AtomicFile, FsError, Lock};
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The file of the state, beside the recordings. No reader of recordings looks at it.
pub(crate) const STATE: &str = ".setup.json";
const LOCK: &str = ".setup.lock";

/// Two commands of a job change its state within milliseconds.
const LOCK_WAIT: Duration = Duration::from_secs(10);

/// A job's folder.
#[derive(Debug)]
pub(crate) struct Record {
    folder: PathBuf,
}

impl Record {
    pub(crate) fn at(folder: &Path) -> Self {
        Self {
            folder: folder.to_path_buf(),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The state as it is; `None` when there is none, or none that can be read.
    pub(crate) fn state(&self) -> Option<State> {
        let mut bytes = Vec::new();
        // The workload may have put anything there.
        let file = fsio::open_regular(&self.folder.join(STATE)).ok()?;
        file.take(MAX_SMALL_BYTES + 1)
            .read_to_end(&mut bytes)
            .ok()?;
        State::parse(&bytes).ok()
    }

    /// Changes the state and writes the sidecar that follows from it. `change` gets the state that is there;
    /// if it returns none the folder is another job's and stays as it is.
    pub(crate) fn update(
        &self,
        change: impl FnOnce(Option<State>) -> Option<State>,
    ) -> Result<(), Unavailable> {
        let _lock = self.lock();
        match change(self.state()) {
            Some(state) => self.write(&state),
            None => Err(Unavailable::NotFresh {
                path: self.folder.clone(),
            }),
        }
    }

    /// Takes back what a job says of itself, where a further command of it cannot be written down: what is there would
    /// pass for all of it. Removing works on a full disk. `is_ours` sees the state that is there.
    pub(crate) fn withdraw(&self, is_ours: impl FnOnce(&State) -> bool) {
        let _lock = self.lock();
        let Some(state) = self.state().filter(is_ours) else {
            return;
        };
        if let (Some(name), Some(above)) = (&state.bundle, self.folder.parent()) {
            let job = JobFolder::open(&self.folder, OriginLayout::InBuild);
            remove_bundle(&above.join(name), &job);
        }
        let sidecars = [Part::Kernels, Part::Python].map(Part::sidecar);
        for name in [STATE].into_iter().chain(sidecars) {
            let _ = fs_err::remove_file(self.folder.join(name));
        }
    }

    /// Replaces the bundle of the job's earlier commands, which says that the job has ended, by one that does not: this
    /// command may be killed before it packs one.
    pub(crate) fn reopen_bundle(&self) {
        let earlier = self.state().and_then(|state| state.bundle);
        let (Some(name), Some(above)) = (earlier, self.folder.parent()) else {
            return;
        };
        if self.pack().is_err() {
            let job = JobFolder::open(&self.folder, OriginLayout::InBuild);
            remove_bundle(&above.join(name), &job);
        }
    }

    /// Packs the folder into a bundle beside it, and takes the job's earlier bundle away: two of one job
    /// that differ would spoil each other.
    pub(crate) fn pack(&self) -> Result<PathBuf, BundleError> {
        let _lock = self.lock();
        let above = self.folder.parent().unwrap_or(&self.folder);
        let job = JobFolder::open(&self.folder, OriginLayout::InBuild);
        let packed = bundle::pack(&job, above, &PackOptions::default())?;
        // Owned by somebody else only when it was there already, opened by whoever made it.
        let _ = fs_err::set_permissions(&packed.path, std::fs::Permissions::from_mode(0o666));
        if let Some(mut state) = self.state() {
            let name = packed.path.file_name().and_then(|name| name.to_str());
            let name = name.map(str::to_owned);
            if state.bundle != name {
                let earlier = std::mem::replace(&mut state.bundle, name);
                self.write_file(STATE, &state.to_bytes())?;
                if let Some(earlier) = earlier {
                    remove_bundle(&above.join(earlier), &job);
                }
            }
        }
        Ok(packed.path)
    }

    /// Best effort: where locks do not work, a job's commands run one after the other all the same.
    fn lock(&self) -> Option<Lock> {
        let path = self.folder.join(LOCK);
        if !self.folder.is_dir() {
            return None;
        }
        if fs_err::symlink_metadata(&path).is_ok_and(|found| !found.is_file()) {
            // A link would have another file locked, and opened to everyone.
            return None;
        }
        let lock = Lock::exclusive(&path, LOCK_WAIT).ok();
        let _ = folder::open_to_everyone(&path, 0o666);
        lock
    }

    fn write(&self, state: &State) -> Result<(), Unavailable> {
        let mut sidecars = Vec::new();
        for (part, document) in state.sidecars() {
            let bytes = document.to_bytes().map_err(Unavailable::Sidecar)?;
            sidecars.push((part.sidecar(), bytes));
        }
        folder::make(&self.folder).map_err(Unavailable::Folder)?;
        for (name, bytes) in sidecars {
            self.write_file(name, &bytes).map_err(Unavailable::Folder)?;
        }
        self.write_file(STATE, &state.to_bytes())
            .map_err(Unavailable::Folder)
    }

    fn write_file(&self, name: &str, bytes: &[u8]) -> Result<(), FsError> {
        let mut file = AtomicFile::create(&self.folder.join(name))?;
        file.write_all(bytes)
            .map_err(|source| file.write_error(source))?;
        file.open_to_everyone()?;
        file.commit()
    }
}

/// Removes a bundle if it is one of this job: its name came from a file that the workload can write.
fn remove_bundle(path: &Path, job: &JobFolder) {
    if path.parent() != job.path.parent() {
        return;
    }
    let read = bundle::read_file(path, &mut |_, _| ());
    if read.is_ok_and(|summary| summary.meta.job_id == job.meta.job_id) {
        let _ = fs_err::remove_file(path);
    }
}
