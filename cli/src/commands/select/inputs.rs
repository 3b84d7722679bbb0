//! From arguments to a question and the records it is put to.
//!
//! Whatever cannot be had ends in running everything, and says why: a repository that cannot be read, a commit that a
//! shallow clone lacks, a step file that is none.

use crate::args::select::{AttributionArg, HostCodeArg, InputArgs, PlacingArgs, StepFileArgs};
use crate::error::{CommandError, chain};
use crate::signing;
use kernrec_git::{Diff, GitError, Repo};
use kernrec_schemas::{Backend, Timestamp};
use kernrec_select::{
    Change, GitSources, HostCode, Libraries, Lineage, Placing, Policy, Question, Record,
    SharedSources, Steps, open_records,
};
use kernrec_store::artifact;
use std::collections::BTreeSet;
use std::path::Path;

/// The largest step file that is read; the reader of its content has the same bound.
const MAX_STEP_FILE_BYTES: u64 = 4 << 20;

/// Everything that an answer takes.
pub(crate) struct Inputs {
    change: Change,
    steps: Option<Steps>,
    /// The text of the step file, if there is one and no other.
    pipeline: Option<String>,
    policy: Policy,
    /// The files of both sides, unless only whole files are asked about.
    sources: Option<SharedSources>,
    host_code: HostCode,
    libraries: Libraries,
    pub(crate) records: Vec<Record>,
}

/// Why nothing may be skipped before anything is asked.
#[derive(Debug)]
pub(crate) struct RunEverything {
    /// The stable word.
    pub(crate) reason: String,
    /// The words for people.
    pub(crate) problem: String,
    /// What to do about it.
    pub(crate) hint: Option<&'static str>,
}

/// What reading the arguments ends in.
pub(crate) enum Gathered {
    Inputs(Box<Inputs>),
    RunEverything(RunEverything),
}

impl Inputs {
    /// Reads everything that the arguments name.
    pub(crate) fn gather(args: &InputArgs) -> Result<Gathered, CommandError> {
        let keys = signing::installed(&args.signing)?;
        let asked: BTreeSet<Backend> = args.backend.iter().copied().collect();
        let named = if args.diff.is_none() {
            Some(Change::of_files(&args.changed_file).map_err(CommandError::usage)?)
        } else {
            None
        };
        let records = open_records(&args.data, &asked, &keys);
        let libraries = args.placing.libraries()?;
        let gathered = Self::read(args, named, records);
        Ok(gathered.map_or_else(Gathered::RunEverything, |inputs| {
            Gathered::Inputs(Box::new(Self {
                libraries,
                ..inputs
            }))
        }))
    }

    /// The one step file, as parsed and as text.
    pub(crate) fn pipeline(&self) -> Option<(&Steps, &str)> {
        Some((self.steps.as_ref()?, self.pipeline.as_deref()?))
    }

    /// The question.
    pub(crate) fn question(&self) -> Question<'_> {
        Question {
            change: &self.change,
            steps: self.steps.as_ref(),
            policy: self.policy,
            placing: placing(self.sources.as_ref(), self.host_code),
            libraries: Some(&self.libraries),
        }
    }

    fn read(
        args: &InputArgs,
        named: Option<Change>,
        mut records: Vec<Record>,
    ) -> Result<Self, RunEverything> {
        if records.is_empty() {
            let folder = args.data.display();
            return Err(RunEverything {
                reason: "never-installed".to_owned(),
                problem: format!("nothing is installed in `{folder}`"),
                hint: Some("run `kernrec fetch` first, or check --data"),
            });
        }
        let mut sources = None;
        let change = match (&args.diff, named) {
            (Some(range), _) => {
                let repo = Repo::new(&args.repo);
                let diff = repo
                    .diff(range)
                    .map_err(|error| RunEverything::of(error.reason(), &error))?;
                trace(&mut records, &repo, &diff);
                sources = args
                    .placing
                    .sources(&repo, &diff)
                    .map_err(|error| RunEverything::of(error.reason(), &error))?;
                Change::of_diff(&diff).map_err(|error| RunEverything::of(error.reason(), &error))?
            }
            (None, Some(change)) => change,
            (None, None) => return Err(RunEverything::nothing_changed()),
        };
        let (steps, pipeline) = read_steps(&args.step_files)?;
        Ok(Self {
            change,
            steps,
            pipeline,
            policy: policy(args),
            sources,
            host_code: args.placing.host_code(),
            libraries: Libraries::default(),
            records,
        })
    }
}

impl RunEverything {
    fn of(reason: &str, error: &dyn std::error::Error) -> Self {
        Self {
            reason: reason.to_owned(),
            problem: chain(error),
            hint: None,
        }
    }

    fn nothing_changed() -> Self {
        Self {
            reason: "no-changed-file".to_owned(),
            problem: "no changed file was given".to_owned(),
            hint: None,
        }
    }
}

impl PlacingArgs {
    /// The files of both sides of a diff; `None` if changed files are to be taken as a whole.
    pub(crate) fn sources(
        &self,
        repo: &Repo,
        diff: &Diff,
    ) -> Result<Option<SharedSources>, GitError> {
        match self.attribution {
            AttributionArg::File => Ok(None),
            AttributionArg::Kernel => {
                let sources = GitSources::open(repo, diff)?;
                Ok(Some(SharedSources::new(sources)))
            }
        }
    }

    /// Which packages distributions bring.
    pub(crate) fn libraries(&self) -> Result<Libraries, CommandError> {
        let mut libraries = Libraries::default();
        for declared in &self.library {
            libraries.declare(declared).map_err(CommandError::usage)?;
        }
        Ok(libraries)
    }

    /// Which changed host code silence may clear.
    pub(crate) fn host_code(&self) -> HostCode {
        match self.host_code {
            HostCodeArg::Certain => HostCode::Certain,
            HostCodeArg::Reach => HostCode::Reach,
        }
    }
}

/// How closely changed files are looked into, given the files of both sides.
pub(crate) fn placing(sources: Option<&SharedSources>, host_code: HostCode) -> Placing<'_> {
    sources.map_or(Placing::File, |sources| Placing::Kernel {
        sources,
        host_code,
    })
}

/// The present, and how old a record may be.
pub(crate) fn policy(args: &InputArgs) -> Policy {
    Policy {
        max_age: args.max_age,
        ..Policy::at(Timestamp::now())
    }
}

/// What moved between each record and the base of the change.
pub(crate) fn trace(records: &mut [Record], repo: &Repo, diff: &Diff) {
    for record in records {
        let lineage = Lineage::between(repo, record.commit(), &diff.base);
        record.set_lineage(lineage);
    }
}

/// The steps of all files, and the text of the file if there is only one.
pub(crate) fn read_steps(
    args: &StepFileArgs,
) -> Result<(Option<Steps>, Option<String>), RunEverything> {
    let mut all: Option<Steps> = None;
    let mut only = None;
    for file in &args.steps {
        let (steps, text) = read_step_file(file)?;
        only = all.is_none().then_some(text);
        match &mut all {
            Some(all) => all.extend(steps),
            None => all = Some(steps),
        }
    }
    if let Some(steps) = &mut all {
        for pattern in &args.run_all_pattern {
            steps.run_all_for(pattern);
        }
    }
    Ok((all, only))
}

fn read_step_file(path: &Path) -> Result<(Steps, String), RunEverything> {
    let bytes = artifact::read(path, MAX_STEP_FILE_BYTES)
        .map_err(|error| RunEverything::of(error.reason(), &error))?;
    let name = path.display().to_string();
    let text = String::from_utf8(bytes).map_err(|_| RunEverything {
        reason: "step-file-malformed".to_owned(),
        problem: format!("step file `{name}` is not UTF-8"),
        hint: None,
    })?;
    match Steps::parse(&name, &text) {
        Ok(steps) => Ok((steps, text)),
        Err(error) => Err(RunEverything::of(error.reason(), &error)),
    }
}
