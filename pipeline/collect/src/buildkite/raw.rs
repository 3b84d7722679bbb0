//! Which raw folders have to be downloaded: those of which no bundle holds everything.

use super::listing::Artifact;
use crate::names::is_evidence;
use kernrec_store::bundle;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// Names and sizes of the entries of the bundles that arrived, by the job they name.
#[derive(Debug, Default)]
pub(super) struct Packed(BTreeMap<String, BTreeSet<(String, u64)>>);

impl Packed {
    /// Reads a bundle to its end; what is wrong with it, if anything.
    pub(super) fn add(&mut self, path: &Path) -> Result<(), String> {
        let mut entries = BTreeSet::new();
        let summary = bundle::read_file(path, &mut |name, bytes| {
            entries.insert((name.to_owned(), bytes.len() as u64));
        });
        let job = summary.map_err(|error| error.to_string())?.meta.job_id;
        self.0.entry(job.to_string()).or_default().extend(entries);
        Ok(())
    }

    /// Whether a bundle holds every file of a folder that says what the job did. A process that outlived the packing
    /// wrote more than that.
    pub(super) fn holds(&self, folder: &str, files: &[(&str, &Artifact)]) -> bool {
        let Some(entries) = self.0.get(folder) else {
            return false;
        };
        let mut evidence = files.iter().filter(|(name, _)| is_evidence(name));
        evidence.all(|(name, artifact)| {
            let size = artifact.size;
            size.is_some_and(|size| entries.contains(&((*name).to_owned(), size)))
        })
    }
}
