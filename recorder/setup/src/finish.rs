//! The end of what a shell ran.

use crate::backend;
use crate::environment::Environment;
use crate::functions;
use crate::identity::Identity;
use crate::job::{self, Record, Setup, State};
use crate::reason::Unavailable;
use crate::session::{self, Finished};
use kernrec_schemas::Backend;
use std::path::PathBuf;

/// What to finish.
#[derive(Debug, Clone, Default)]
pub struct FinishOptions {
    /// The exit status of what ran; `None` when it is not known.
    pub status: Option<i64>,
    /// The job's folder, where the session's variable is gone.
    pub dir: Option<PathBuf>,
}

/// Writes the exit status of a shell's session and packs the bundle. A second time with the same status
/// changes nothing; a failure said after a success counts.
pub fn finish(options: &FinishOptions, environment: &Environment) -> Finished {
    let outer = session::outer(environment);
    let named = options.dir.as_deref().map(|dir| environment.absolute(dir));
    let (id, folder) = match (named, outer) {
        (Some(named), Some(outer)) if named == outer.folder => (Some(outer.id), named),
        (Some(named), _) => (None, named),
        (None, Some(outer)) => (Some(outer.id), outer.folder),
        (None, None) => {
            return Finished {
                bundle: None,
                problems: vec!["nothing-to-finish: this shell was not set up".to_owned()],
            };
        }
    };
    if id.is_none() && job::is_fresh(&folder) {
        return Finished {
            bundle: None,
            problems: vec![format!(
                "nothing-to-finish: no job was set up in `{}`",
                folder.display()
            )],
        };
    }
    let status = options.status;
    session::end(&Record::at(&folder), |found| match found {
        Some(mut state) => {
            let ids = id.map_or_else(|| state.open_shells(), |id| vec![id]);
            for id in ids {
                functions::withdraw(&folder, &id);
                state.end(&id, status, 0);
            }
            Some(state)
        }
        None => Some(lost(environment)),
    })
}

/// What can still be said of a job whose folder vanished: the CI system's words.
fn lost(environment: &Environment) -> State {
    let (identity, _) = Identity::default().resolve(environment);
    let mut state = State::new(identity, environment);
    // The variables say what was recorded; where nothing was, somebody's kernels were to be.
    let python = environment.set(functions::FOLDER).is_some();
    if !python || environment.set(session::FOLDER).is_some() {
        let backend = backend::of_machine(environment);
        state.kernels = Some(Setup::new(backend, environment));
    }
    if python {
        state.python = Some(Setup::new(Backend::Python, environment));
    }
    state.give_up(&Unavailable::FolderLost);
    state
}
