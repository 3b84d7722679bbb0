//! `kernrec validate`: past changes replayed, and held against what really failed.

use super::select::{placing, read_steps, trace};
use crate::args::validate::ValidateArgs;
use crate::document;
use crate::error::{CommandError, chain};
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, text, texts};
use kernrec_git::{DiffRange, GitError, Repo};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, Commit, Timestamp};
use kernrec_select::{
    Change, Libraries, PastChange, Policy, Question, Record, Replay, ReplayEnd, Steps, Totals,
    open_records, past_changes, select,
};
use kernrec_store::signing::TrustedKeys;
use serde_json::Value;
use std::collections::BTreeSet;

pub(crate) fn run(args: &ValidateArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let changes = document::parse(&args.changes, past_changes)?;
    if args.crosscheck
        && let Some(unknown) = changes.iter().find(|change| change.ran.is_none())
    {
        let problem = format!(
            "{}: `ran` is missing, which --crosscheck needs",
            unknown.head
        );
        return Err(CommandError::usage(problem));
    }
    let asked: BTreeSet<Backend> = args.backend.iter().copied().collect();
    let mut replayer = Replayer {
        args,
        repo: Repo::new(&args.repo),
        records: open_records(&args.data, &asked, &TrustedKeys::default()),
        libraries: args.placing.libraries()?,
        steps: read_steps(&args.step_files)
            .map_err(|why| {
                CommandError::failed("step-file", format!("{}: {}", why.reason, why.problem))
            })?
            .0,
    };
    let replays: Vec<Replay> = changes
        .iter()
        .map(|change| replayer.replay(change))
        .collect();
    let totals = Totals::of(&replays);
    let form = if args.json { Form::Json } else { Form::Text };
    shell.summary(&summary(args, &totals, &replays), form)?;
    Ok(match (totals.replayed, totals.failed - totals.caught) {
        (0, _) => Exit::Failed,
        (_, 0) => Exit::Done,
        _ => Exit::Refused,
    })
}

/// What every change is put to.
struct Replayer<'a> {
    args: &'a ValidateArgs,
    repo: Repo,
    records: Vec<Record>,
    steps: Option<Steps>,
    libraries: Libraries,
}

impl Replayer<'_> {
    fn replay(&mut self, change: &PastChange) -> Replay {
        match self.answer(change) {
            Ok(report) => Replay::of(change, &report),
            Err((reason, problem)) => Replay::failed(change, reason, problem),
        }
    }

    fn answer(
        &mut self,
        past: &PastChange,
    ) -> Result<kernrec_select::Report, (&'static str, String)> {
        let range: DiffRange = format!("{}...{}", past.base, past.head)
            .parse()
            .map_err(|error: kernrec_git::RangeError| (error.reason(), error.to_string()))?;
        let unread = |error: GitError| (error.reason(), chain(&error));
        let diff = self.repo.diff(&range).map_err(unread)?;
        trace(&mut self.records, &self.repo, &diff);
        let made = Commit::new(past.head.as_str())
            .map_err(|error| ("invalid-text", error.to_string()))
            .and_then(|head| self.repo.commit_time(&head).map_err(unread))?;
        let change = Change::of_diff(&diff).map_err(|error| (error.reason(), error.to_string()))?;
        let sources = self
            .args
            .placing
            .sources(&self.repo, &diff)
            .map_err(unread)?;
        let question = Question {
            change: &change,
            steps: self.steps.as_ref(),
            policy: Policy {
                max_age: self.args.max_age,
                ..Policy::at(self.moment(made))
            },
            placing: placing(sources.as_ref(), self.args.placing.host_code()),
            libraries: Some(&self.libraries),
        };
        select(&self.records, &question).map_err(|error| (error.reason(), error.to_string()))
    }

    /// Ages are those of the day the change was made; a record that was published later is taken for a new one.
    fn moment(&self, made: Timestamp) -> Timestamp {
        let published = self.records.iter().filter_map(Record::published_at);
        published.fold(made, Ord::max)
    }
}

fn summary(args: &ValidateArgs, totals: &Totals, replays: &[Replay]) -> Summary {
    let mut summary = Summary::new("validation", "past changes replayed");
    summary.fact("changes", totals.changes);
    summary.fact("replayed", totals.replayed);
    summary.fact("failed_steps", totals.failed);
    summary.fact("would_have_run", totals.caught);
    summary.fact("recall", percent(totals.recall));
    summary.fact("skipped_share", percent(totals.skipped_share));
    let columns = &["head", "base", "missed"];
    let title = "steps that failed and would have been skipped (`kernrec explain` shows why)";
    let mut misses = Section::new("misses", title, columns, usize::MAX);
    let columns = &["head", "steps", "skipped", "failed", "would_have_run"];
    let mut replayed = Section::new("answers", "replayed", columns, args.rows);
    let columns = &["head", "reason", "problem"];
    let title = "not replayed: nothing could have been skipped, whatever changed";
    let mut others = Section::new("not_replayed", title, columns, args.rows);
    let columns = &["head", "ran_and_would_not", "would_and_did_not_run"];
    let title = "steps that CI ran and that would not have run, and the reverse";
    let mut crosscheck = Section::new("crosscheck", title, columns, args.rows);
    for replay in replays {
        match &replay.end {
            ReplayEnd::NotReplayed { reason, problem } => {
                others.row([text(&replay.head), text(reason), text(problem)]);
            }
            ReplayEnd::Replayed(score) => {
                replayed.row([
                    text(&replay.head),
                    score.steps.into(),
                    score.skipped.into(),
                    (score.caught + score.missed.len() as u64).into(),
                    score.caught.into(),
                ]);
                if !score.missed.is_empty() {
                    misses.row([text(&replay.head), text(&replay.base), texts(&score.missed)]);
                }
                if let (true, Some(saved), Some(added)) =
                    (args.crosscheck, &score.saved, &score.added)
                {
                    crosscheck.row([text(&replay.head), texts(saved), texts(added)]);
                }
            }
        }
    }
    for section in [misses, replayed, others, crosscheck] {
        summary.section(section);
    }
    summary
}

/// A share in percent, to a tenth.
fn percent(share: Option<f64>) -> Value {
    share.map_or(Value::Null, |share| {
        Value::from((share * 1000.0).round() / 10.0)
    })
}
