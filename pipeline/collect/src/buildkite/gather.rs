//! From a search to files: each name looked at before it is asked for, each file after it came.

use super::Buildkite;
use super::listing::{Artifact, Jobs, download, search};
use super::raw::Packed;
use crate::arrived::{self, Expected};
use crate::ci::{CiError, Gathered, Lost, Trouble, Upload};
use crate::names::{Place, ROOT, is_evidence, is_map, is_safe, place as place_of};
use crate::parallel::{Failed, each};
use crate::step::Step;
use crate::workplace::Workplace;
use kernrec_schemas::jobs::ListedJob;
use kernrec_schemas::{JobId, StepKey};
use kernrec_store::fsio;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Flat and nested apart: whether `**` stands for no folder too is the server's business.
const RECORDINGS: [&str; 2] = [".kernrec/*", ".kernrec/**/*"];
const MAPS: [&str; 2] = ["*symbol*map*", "**/*symbol*map*"];

pub(super) fn gather(
    agent: &Buildkite,
    steps: &[Step],
    map_steps: &[StepKey],
    place: &Workplace,
) -> Gathered {
    let mut gathered = Gathered::default();
    let listed = recordings(agent, steps, &mut gathered);
    let jobs: Vec<Job> = listed.into_iter().map(Job::new).collect();
    for fetched in each(&jobs, |job| fetch(agent, job, place)) {
        gathered.join(fetched);
    }
    gathered.jobs = jobs_list(&gathered);
    for found in each(map_steps, |step| maps_of(agent, step, place)) {
        gathered.join(found);
    }
    gathered
}

/// What each job uploaded, with its step. Step by step, since a search of a whole large build is too much for the
/// server; only without steps the whole build is searched.
fn recordings(
    agent: &Buildkite,
    steps: &[Step],
    gathered: &mut Gathered,
) -> BTreeMap<(JobId, Option<StepKey>), BTreeSet<Artifact>> {
    let keys: Vec<Option<&StepKey>> = if steps.is_empty() {
        vec![None]
    } else {
        steps.iter().map(|step| Some(&step.key)).collect()
    };
    let found = each(&keys, |key| {
        search(agent, &RECORDINGS, key.map(StepKey::as_str), Jobs::All)
    });
    let mut jobs: BTreeMap<(JobId, Option<StepKey>), BTreeSet<Artifact>> = BTreeMap::new();
    for (key, found) in keys.into_iter().zip(found) {
        match found {
            Ok(artifacts) => {
                for artifact in artifacts {
                    let owner = (artifact.job.clone(), key.cloned());
                    jobs.entry(owner).or_default().insert(artifact);
                }
            }
            // A part of a step's jobs would pass for all of them, so the step has none.
            Err(error) => gathered.lost.push(not_found(&error, key)),
        }
    }
    jobs
}

fn not_found(error: &CiError, step: Option<&StepKey>) -> Lost {
    Lost {
        what: error.what.clone(),
        reason: Trouble::SearchFailed,
        message: error.problem.clone(),
        job: None,
        step: step.cloned(),
    }
}

/// What one job uploaded.
struct Job {
    id: JobId,
    step: Option<StepKey>,
    bundles: Vec<Artifact>,
    folders: BTreeMap<String, Vec<(String, Artifact)>>,
    lost: Vec<Lost>,
    ignored: u64,
}

impl Job {
    fn new(((id, step), artifacts): ((JobId, Option<StepKey>), BTreeSet<Artifact>)) -> Self {
        let mut job = Self {
            id,
            step,
            bundles: Vec::new(),
            folders: BTreeMap::new(),
            lost: Vec::new(),
            ignored: 0,
        };
        for artifact in artifacts {
            job.add(artifact);
        }
        job
    }

    fn add(&mut self, artifact: Artifact) {
        if !is_safe(&artifact.path) {
            let message = "no file of ours has such a name".to_owned();
            self.lost
                .push(self.loss(&artifact.path, Trouble::UnsafeName, message));
            return;
        }
        match place_of(&artifact.path) {
            Place::Bundle => self.bundles.push(artifact),
            Place::InJob { folder, name } => {
                let (folder, name) = (folder.to_owned(), name.to_owned());
                self.folders
                    .entry(folder)
                    .or_default()
                    .push((name, artifact));
            }
            Place::Other => self.ignored += 1,
        }
    }

    fn loss(&self, what: &str, reason: Trouble, message: String) -> Lost {
        Lost {
            what: what.to_owned(),
            reason,
            message,
            job: Some(self.id.clone()),
            step: self.step.clone(),
        }
    }
}

fn fetch(agent: &Buildkite, job: &Job, place: &Workplace) -> Gathered {
    let into = place.bundles(job.id.as_str());
    let mut gathered = Gathered {
        folders: vec![into.join(ROOT)],
        uploads: vec![Upload {
            job: job.id.clone(),
            step: job.step.clone(),
        }],
        lost: job.lost.clone(),
        ignored: job.ignored,
        ..Gathered::default()
    };
    let mut packed = Packed::default();
    for artifact in &job.bundles {
        let path = into.join(&artifact.path);
        let got = get(agent, &job.id, &artifact.path, &into, &[artifact]);
        let mut read = || {
            packed
                .add(&path)
                .map_err(|message| (Trouble::ArtifactDamaged, message))
        };
        match got.and_then(|()| read()) {
            Ok(()) => gathered.bundles.push(path),
            Err((reason, message)) => {
                // What cannot be read is said here, once, with its job.
                let _ = fs_err::remove_file(&path);
                gathered
                    .lost
                    .push(job.loss(&artifact.path, reason, message));
            }
        }
    }
    for (folder, files) in &job.folders {
        let named: Vec<(&str, &Artifact)> = files
            .iter()
            .map(|(name, artifact)| (name.as_str(), artifact))
            .collect();
        let says_something = named.iter().any(|(name, _)| is_evidence(name));
        if !says_something || packed.holds(folder, &named) {
            continue;
        }
        let query = format!("{ROOT}/{folder}/*");
        // What else stands in the folder need not arrive.
        let evidence = named.iter().filter(|(name, _)| is_evidence(name));
        let artifacts: Vec<&Artifact> = evidence.map(|(_, artifact)| *artifact).collect();
        match get(agent, &job.id, &query, &into, &artifacts) {
            Ok(()) => gathered.raw_folders += 1,
            // What did arrive of it are observations all the same.
            Err((reason, message)) => gathered.lost.push(job.loss(&query, reason, message)),
        }
    }
    gathered
}

/// Downloads and looks at what came, again and again while it may help.
fn get(
    agent: &Buildkite,
    job: &JobId,
    query: &str,
    into: &Path,
    artifacts: &[&Artifact],
) -> Result<(), (Trouble, String)> {
    for artifact in artifacts {
        arrived::check_size(artifact.size).map_err(|e| (Trouble::ArtifactTooLarge, e))?;
    }
    let failed = |message: String| (Trouble::DownloadFailed, message);
    fsio::create_dir_all(into).map_err(|e| failed(e.to_string()))?;
    agent.patience.tried(|| {
        download(agent, job, query, &into.to_string_lossy())
            .map_err(|error| Failed::ForNow(failed(error.problem)))?;
        for artifact in artifacts {
            let expected = Expected {
                size: artifact.size,
                sha256: artifact.sha256.as_deref(),
            };
            arrived::check(&into.join(&artifact.path), &expected)
                .map_err(|problem| Failed::ForNow((Trouble::ArtifactDamaged, problem)))?;
        }
        Ok(())
    })
}

/// Every job that uploaded something, so that a step of which something did not arrive has a job that delivered
/// nothing. A job of which only a part is lost stands there twice: nothing else says that the rest is not all.
fn jobs_list(gathered: &Gathered) -> Option<Vec<ListedJob>> {
    let listed = |id: JobId, step: &Option<StepKey>| ListedJob {
        id,
        state: None,
        step_key: step.clone(),
    };
    let mut jobs = BTreeMap::new();
    for upload in &gathered.uploads {
        jobs.insert(upload.job.clone(), listed(upload.job.clone(), &upload.step));
    }
    for lost in &gathered.lost {
        let part = lost
            .job
            .as_ref()
            .and_then(|job| JobId::new(format!("{job}.lost")).ok());
        if let Some(id) = part {
            jobs.insert(id.clone(), listed(id, &lost.step));
        }
    }
    // Of a whole build nobody knows the steps, and a list without them protects none.
    let has_steps = jobs.values().all(|job| job.step_key.is_some());
    (has_steps && !jobs.is_empty()).then(|| jobs.into_values().collect())
}

fn maps_of(agent: &Buildkite, step: &StepKey, place: &Workplace) -> Gathered {
    let mut gathered = Gathered::default();
    let found = match search(agent, &MAPS, Some(step.as_str()), Jobs::Last) {
        Ok(found) => found,
        Err(error) => {
            gathered.lost.push(not_found(&error, Some(step)));
            return gathered;
        }
    };
    for artifact in found.iter().filter(|artifact| is_map(&artifact.path)) {
        match map(agent, artifact, place) {
            Ok(path) => gathered.maps.push(path),
            Err((reason, message)) => gathered.lost.push(Lost {
                what: artifact.path.clone(),
                reason,
                message,
                job: None,
                step: Some(step.clone()),
            }),
        }
    }
    gathered
}

fn map(
    agent: &Buildkite,
    artifact: &Artifact,
    place: &Workplace,
) -> Result<PathBuf, (Trouble, String)> {
    if !is_safe(&artifact.path) {
        return Err((
            Trouble::UnsafeName,
            "no file of ours has such a name".to_owned(),
        ));
    }
    let into = place.maps(artifact.job.as_str());
    get(agent, &artifact.job, &artifact.path, &into, &[artifact])?;
    Ok(into.join(&artifact.path))
}

#[cfg(test)]
mod tests {
    use super::jobs_list;
    use crate::ci::{Gathered, Lost, Trouble, Upload};

    #[test]
    fn a_job_that_lost_a_part_is_not_whole() {
        let upload = |job: &str, step: Option<&str>| Upload {
            job: job.parse().unwrap(),
            step: step.map(|step| step.parse().unwrap()),
        };
        let mut gathered = Gathered {
            uploads: vec![upload("j-1", Some("a")), upload("j-2", Some("b"))],
            lost: vec![Lost {
                what: "x".to_owned(),
                reason: Trouble::DownloadFailed,
                message: String::new(),
                job: Some("j-1".parse().unwrap()),
                step: Some("a".parse().unwrap()),
            }],
            ..Gathered::default()
        };
        let ids = |gathered: &Gathered| {
            let jobs = jobs_list(gathered)?;
            Some(
                jobs.iter()
                    .map(|job| job.id.to_string())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(ids(&gathered).unwrap(), ["j-1", "j-1.lost", "j-2"]);
        gathered.uploads.push(upload("j-3", None));
        assert_eq!(ids(&gathered), None);
    }
}
