//! `kernrec verify installed`: every installed file against the digests of its record.

use super::verdict;
use crate::args::verify::InstalledArgs;
use crate::error::{CommandError, chain};
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, text};
use kernrec_fetch::installed::{self, InstalledPair};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::json::MAX_RECORD_BYTES;
use kernrec_schemas::manifest::{ROLE_SYMBOL_MAP, ROLE_TABLE};
use kernrec_schemas::{Backend, Digest};
use kernrec_store::artifact;
use std::path::Path;

pub(crate) fn run(args: &InstalledArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let there = |backend: &Backend| installed::is_there(&args.data, *backend);
    let backends: Vec<Backend> = Backend::ALL.into_iter().filter(there).collect();
    if backends.is_empty() {
        let problem = format!("nothing is installed in `{}`", args.data.display());
        let error = CommandError::refused("never-installed", problem);
        return Err(error.hint("run `kernrec fetch` first, or check --data"));
    }
    let checks: Vec<Check> = backends
        .into_iter()
        .map(|backend| check(&args.data, backend))
        .collect();
    let whole = checks.iter().all(|check| check.problem.is_none());
    let title = if whole {
        "everything installed is whole"
    } else {
        "something installed is damaged"
    };
    let mut summary = Summary::new("verify-installed", title);
    summary.fact("same", whole);
    let columns = &["backend", "verdict", "commit", "files", "reason", "problem"];
    let mut section = Section::new("backends", "backends", columns, usize::MAX);
    for check in &checks {
        section.row(check.row());
    }
    summary.section(section);
    shell.summary(&summary, Form::of_flag(args.json))?;
    if !whole {
        shell.note("hint: the next `kernrec fetch` heals it");
    }
    Ok(verdict(whole))
}

/// What was found for one backend.
struct Check {
    backend: Backend,
    commit: Option<String>,
    files: usize,
    problem: Option<(&'static str, String)>,
}

impl Check {
    fn row(&self) -> [serde_json::Value; 6] {
        let (verdict, reason, problem) = match &self.problem {
            None => ("whole", "", ""),
            Some((reason, problem)) => ("damaged", *reason, problem.as_str()),
        };
        [
            text(self.backend),
            text(verdict),
            self.commit.as_deref().into(),
            self.files.into(),
            text(reason),
            text(problem),
        ]
    }
}

fn check(data: &Path, backend: Backend) -> Check {
    let mut check = Check {
        backend,
        commit: None,
        files: 0,
        problem: None,
    };
    let opened = if backend.has_kernels() {
        installed::open(data, backend).map(|pair| (damaged_twin(&pair), pair.record))
    } else {
        installed::open_functions(data).map(|functions| (None, functions.record))
    };
    match opened {
        Ok((problem, record)) => {
            check.commit = Some(record.commit.to_string());
            check.files = record.files.len() + record.twins.len();
            check.problem = problem;
        }
        Err(error) => check.problem = Some((error.reason(), chain(&error))),
    }
    check
}

/// The gzip twins for readers of the existing system hold the same content as the files they stand beside.
fn damaged_twin(pair: &InstalledPair) -> Option<(&'static str, String)> {
    for name in pair.record.twins.keys() {
        let role = if name.starts_with("kernel_table") {
            ROLE_TABLE
        } else {
            ROLE_SYMBOL_MAP
        };
        let expected = pair.record.files.get(role)?.digest;
        let path = pair.folder.join(name);
        let found = match artifact::read(&path, MAX_RECORD_BYTES) {
            Ok(bytes) => Digest::of(&bytes),
            Err(error) => return Some(("installed-damaged", chain(&error))),
        };
        if found != expected {
            let path = path.display();
            let problem = format!("`{path}` has the digest {found}, expected {expected}");
            return Some(("installed-damaged", problem));
        }
    }
    None
}
