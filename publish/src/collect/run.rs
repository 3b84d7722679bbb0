//! From paths to [`Collected`], on all cores, in one pass.

use super::collected::{Collected, Unreadable};
use super::content::Parsed;
use super::names::Interner;
use super::read::{read_bundle_file, read_folder};
use super::unite::unite;
use super::{CollectError, Job};
use kernrec_store::bundle::{self, Found, JobFolder};
use rayon::prelude::*;
use std::path::PathBuf;

/// Where to look.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inputs {
    /// Folders of job folders and bundles, in either layout.
    pub recordings: Vec<PathBuf>,
    /// Bundle files.
    pub bundles: Vec<PathBuf>,
}

/// Reads everything the inputs hold.
pub fn collect(inputs: &Inputs) -> Result<Collected, CollectError> {
    let mut found = Found::default();
    for dir in &inputs.recordings {
        let more = bundle::job_folders(dir).map_err(|source| CollectError::Search {
            dir: dir.clone(),
            source: Box::new(source),
        })?;
        found.jobs.extend(more.jobs);
        found.bundles.extend(more.bundles);
        found.empty.extend(more.empty);
        found.ignored.extend(more.ignored);
    }
    for path in &inputs.bundles {
        // A missing file is the caller's mistake; a damaged one is what a job delivered.
        if !path.exists() {
            return Err(CollectError::NoSuchBundle { path: path.clone() });
        }
        found.bundles.push(path.clone());
    }
    found.jobs.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    found.jobs.dedup_by(|a, b| a.path == b.path);
    found.ignored.retain(|path| path.is_symlink());
    for paths in [&mut found.bundles, &mut found.empty, &mut found.ignored] {
        paths.sort_unstable();
        paths.dedup();
    }
    Ok(Collected {
        empty: found.empty,
        links: found.ignored,
        ..read_all(found.jobs, found.bundles)
    })
}

fn read_all(folders: Vec<JobFolder>, bundles: Vec<PathBuf>) -> Collected {
    let interner = Interner::default();
    let mut parsed: Vec<Parsed> = folders
        .into_par_iter()
        .map(|folder| read_folder(folder, &interner))
        .collect();
    let from_bundles: Vec<Result<Parsed, Unreadable>> = bundles
        .into_par_iter()
        .map(|path| {
            read_bundle_file(path.clone(), &interner).map_err(|error| Unreadable {
                path,
                reason: error.reason(),
                message: error.to_string(),
            })
        })
        .collect();
    let mut unreadable = Vec::new();
    for one in from_bundles {
        match one {
            Ok(one) => parsed.push(one),
            Err(broken) => unreadable.push(broken),
        }
    }
    parsed.retain(Parsed::has_kernels);
    Collected {
        unreadable,
        ..Collected::of(parsed, interner)
    }
}

impl Collected {
    /// Unites the jobs and gives every name its final number.
    pub(crate) fn of(mut parsed: Vec<Parsed>, interner: Interner) -> Self {
        let (names, new_number) = interner.into_sorted();
        parsed.par_iter_mut().for_each(|one| {
            for process in &mut one.job.processes {
                for kernel in &mut process.kernels {
                    *kernel = new_number[*kernel as usize];
                }
                process.kernels.sort_unstable();
            }
        });
        let jobs: Vec<Job> = unite(parsed);
        // A bundle that turned out broken after some entries may have left names that no job holds; they
        // do no harm, since a table lists only the names its rows refer to.
        Self {
            jobs,
            names,
            ..Self::default()
        }
    }
}
