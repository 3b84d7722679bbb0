//! From paths to [`Collected`], on all cores, in one pass.

use super::collected::{Collected, Unreadable};
use super::content::{Parsed, ParsedJob};
use super::names::{FunctionKey, Interners};
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
    let interners = Interners::default();
    let mut parsed: Vec<ParsedJob> = folders
        .into_par_iter()
        .map(|folder| read_folder(&folder, &interners))
        .collect();
    let from_bundles: Vec<Result<ParsedJob, Unreadable>> = bundles
        .into_par_iter()
        .map(|path| {
            read_bundle_file(&path, &interners).map_err(|error| Unreadable {
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
    Collected {
        unreadable,
        ..Collected::of(parsed, interners)
    }
}

impl Collected {
    /// Unites the jobs and gives every name its final number.
    pub(crate) fn of(parsed: Vec<ParsedJob>, interners: Interners) -> Self {
        let (names, new_kernels) = interners.kernels.into_sorted();
        let (keys, new_functions) = interners.functions.into_sorted();
        let mut kernels = Vec::new();
        let mut python = Vec::new();
        for job in parsed {
            kernels.extend(job.kernels);
            python.extend(job.python);
        }
        renumber(&mut kernels, &new_kernels);
        renumber(&mut python, &new_functions);
        let jobs: Vec<Job> = unite(kernels);
        // A bundle that turned out broken after some entries may have left names that no job holds; they
        // do no harm, since a table lists only the names its rows refer to.
        Self {
            jobs,
            names,
            python_jobs: unite(python),
            functions: FunctionKey::functions(&keys),
            ..Self::default()
        }
    }
}

fn renumber(parsed: &mut [Parsed], new_number: &[u32]) {
    parsed.par_iter_mut().for_each(|one| {
        for process in &mut one.job.processes {
            for name in &mut process.names {
                *name = new_number[*name as usize];
            }
            process.names.sort_unstable();
        }
    });
}
