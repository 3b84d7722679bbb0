//! The artifacts of a run. Nothing tells which job uploaded one.

use super::api::Api;
use super::unzip::{self, Unzipped};
use crate::arrived;
use crate::ci::{Gathered, Lost, Trouble};
use crate::names::ROOT;
use crate::parallel::each;
use crate::workplace::Workplace;
use kernrec_store::bundle::MAX_BUNDLE_BYTES;
use serde::Deserialize;

#[derive(Debug, Deserialize)]
struct Artifacts {
    artifacts: Vec<Artifact>,
}

#[derive(Debug, Clone, Deserialize)]
struct Artifact {
    id: u64,
    name: String,
    #[serde(default)]
    size_in_bytes: Option<u64>,
    #[serde(default)]
    expired: bool,
}

impl Artifact {
    /// By its name; a run may have many that are large and none of ours.
    fn is_ours(&self) -> bool {
        let name = self.name.to_ascii_lowercase().replace('_', "-");
        name.contains("kernrec") || name.contains("symbol-map")
    }

    fn lost(&self, reason: Trouble, message: String) -> Lost {
        Lost {
            what: self.name.clone(),
            reason,
            message,
            job: None,
            step: None,
        }
    }
}

pub(super) fn gather(api: &Api, run: u64, place: &Workplace) -> Gathered {
    let mut gathered = Gathered::default();
    let path = format!("runs/{run}/artifacts");
    let artifacts = match api.all(&path, |page: Artifacts| page.artifacts) {
        Ok(artifacts) => artifacts,
        Err(error) => {
            gathered.lost.push(Lost {
                what: error.what,
                reason: Trouble::SearchFailed,
                message: error.problem,
                job: None,
                step: None,
            });
            return gathered;
        }
    };
    let ours: Vec<Artifact> = artifacts.into_iter().filter(Artifact::is_ours).collect();
    for (artifact, fetched) in ours.iter().zip(each(&ours, |one| fetch(api, one, place))) {
        match fetched {
            Ok(unzipped) => gathered.join(of(artifact, unzipped, place)),
            Err((reason, message)) => gathered.lost.push(artifact.lost(reason, message)),
        }
    }
    gathered
}

fn fetch(api: &Api, artifact: &Artifact, place: &Workplace) -> Result<Unzipped, (Trouble, String)> {
    if artifact.expired {
        return Err((Trouble::ArtifactExpired, "it is kept no longer".to_owned()));
    }
    arrived::check_size(artifact.size_in_bytes).map_err(|e| (Trouble::ArtifactTooLarge, e))?;
    let failed = |message: String| (Trouble::DownloadFailed, message);
    let zip = tempfile::tempfile_in(place.dir()).map_err(|e| failed(e.to_string()))?;
    let path = format!("artifacts/{}/zip", artifact.id);
    api.download(&path, MAX_BUNDLE_BYTES, || {
        zip.set_len(0)?;
        let mut again = zip.try_clone()?;
        std::io::Seek::rewind(&mut again)?;
        Ok(again)
    })
    .map_err(|error| failed(error.problem))?;
    let id = artifact.id.to_string();
    unzip::unzip(zip, &place.bundles(&id), &place.maps(&id))
        .map_err(|problem| (Trouble::ArtifactDamaged, problem))
}

fn of(artifact: &Artifact, unzipped: Unzipped, place: &Workplace) -> Gathered {
    let unsafe_name = |name: String| {
        let mut lost = artifact.lost(
            Trouble::UnsafeName,
            "no file of ours has such a name".to_owned(),
        );
        lost.what = format!("{}: {name}", artifact.name);
        lost
    };
    Gathered {
        folders: unzipped
            .has_recordings
            .then(|| place.bundles(&artifact.id.to_string()).join(ROOT))
            .into_iter()
            .collect(),
        maps: unzipped.maps,
        lost: unzipped.unsafe_names.into_iter().map(unsafe_name).collect(),
        bundles: unzipped.bundles,
        raw_folders: unzipped.folders.len() as u64,
        ignored: unzipped.ignored,
        ..Gathered::default()
    }
}
