//! The report in Markdown, for the page of a build. Names in it come from pipelines and jobs.

use crate::compare::NamesChanged;
use crate::report::{CollectReport, Names, Outcome};
use crate::wait::{End, StepEnd};
use kernrec_schemas::StepKey;
use kernrec_schemas::shown::printable;
use std::fmt::{Display, Write};

/// Names of a list that are shown.
const SHOWN: usize = 20;
/// The most of a message that is shown, in characters.
const MAX_MESSAGE: usize = 400;

/// The annotation.
pub(crate) fn text(report: &CollectReport) -> String {
    let mut page = Page::default();
    page.line(format!(
        "### kernrec {}: {}",
        report.backend,
        headline(report)
    ));
    page.line(counts(report));
    reasons(report, &mut page);
    changes(report, &mut page);
    steps(report, &mut page);
    arrivals(report, &mut page);
    page.0
}

/// Paragraphs, each of one line.
#[derive(Default)]
struct Page(String);

impl Page {
    fn line(&mut self, line: impl Display) {
        if !self.0.is_empty() {
            self.0.push('\n');
        }
        let _ = writeln!(self.0, "{line}");
    }

    /// A paragraph with a list of items; nothing when there is none.
    fn list(&mut self, title: &str, items: impl IntoIterator<Item = String>) {
        let items: Vec<String> = items.into_iter().collect();
        if items.is_empty() {
            return;
        }
        let more = items.len().saturating_sub(SHOWN);
        let mut line = format!("**{title}**");
        for item in items.iter().take(SHOWN) {
            let _ = write!(line, "\n- {item}");
        }
        if more > 0 {
            let _ = write!(line, "\n- and {more} more");
        }
        self.line(line);
    }
}

fn headline(report: &CollectReport) -> String {
    let is_dry = report
        .publish
        .as_ref()
        .is_some_and(|publish| publish.dry_run);
    match report.outcome {
        Outcome::Published if is_dry => "would be published".to_owned(),
        Outcome::Skipped => match &report.skipped {
            Some(skipped) => format!("not published, only {} is", code(&skipped.only_branch)),
            None => "not published".to_owned(),
        },
        other => other.word().to_owned(),
    }
}

fn counts(report: &CollectReport) -> String {
    let mut parts = Vec::new();
    match &report.folded {
        Some(folded) => parts.push(format!(
            "{}, {} usable, {}",
            counted(folded.rows, "row"),
            folded.usable_rows,
            match folded.names {
                Names::Kernels(kernels) => counted(kernels, "kernel"),
                Names::Functions(functions) => counted(functions, "function"),
            }
        )),
        None => parts.push("No table".to_owned()),
    }
    let delivered = report
        .folded
        .as_ref()
        .map_or(0, |folded| folded.delivered_jobs);
    parts.push(match report.expected_jobs {
        Some(expected) => format!("{delivered} of {} delivered", counted(expected, "job")),
        None => format!("{} delivered", counted(delivered, "job")),
    });
    parts.push(format!(
        "build {}, commit {}",
        report.build,
        code(&report.commit)
    ));
    if let Some(source) = &report.source_build {
        parts.push(format!("collected from build {}", code(source)));
    }
    if let Some(generation) = report
        .publish
        .as_ref()
        .and_then(|publish| publish.generation)
    {
        parts.push(format!("generation {}", generation.0));
    }
    parts.join(" · ")
}

fn reasons(report: &CollectReport, page: &mut Page) {
    let mut why: Vec<String> = Vec::new();
    for obstacle in &report.obstacles {
        why.push(format!(
            "`{}`: {}",
            obstacle.reason,
            message(&obstacle.message)
        ));
    }
    if let Some(publish) = &report.publish {
        for refusal in &publish.refusals {
            why.push(format!("`{}`: {}", refusal.word(), message(refusal)));
        }
        if let Some(superseded) = &publish.superseded {
            why.push(message(superseded));
        }
        if let Some(failure) = &publish.failure {
            why.push(format!(
                "`{}`: {}",
                failure.reason,
                message(&failure.message)
            ));
        }
    }
    page.list("Why not", why);
}

fn changes(report: &CollectReport, page: &mut Page) {
    let Some(changes) = &report.changes else {
        if let Some(why) = &report.not_compared {
            page.line(format!(
                "Not compared with the current record: {}",
                message(why)
            ));
        }
        return;
    };
    let (names, gained, lost) = match changes.names {
        NamesChanged::Kernels {
            kernels_gained,
            kernels_lost,
        } => ("kernels", kernels_gained, kernels_lost),
        NamesChanged::Functions {
            functions_gained,
            functions_lost,
        } => ("functions", functions_gained, functions_lost),
    };
    page.line(format!(
        "Against build {}: rows +{} −{}, usable rows +{} −{}, {names} +{gained} −{lost}",
        changes.build,
        changes.rows_gained.len(),
        changes.rows_lost.len(),
        changes.usable_gained.len(),
        changes.usable_lost.len(),
    ));
    page.list("New rows", codes(&changes.rows_gained));
    page.list("Rows gone", codes(&changes.rows_lost));
    page.list("Usable no more", codes(&changes.usable_lost));
}

fn steps(report: &CollectReport, page: &mut Page) {
    let waited = &report.waited;
    let all = || waited.steps.iter().chain(&waited.map_steps);
    let of = |end: End| {
        let those = all().filter(move |step| step.end == end);
        those.map(with_state)
    };
    page.list("Not over at the deadline", of(End::Late));
    page.list("Did not run", of(End::CannotRun));
    page.list("Not in the build", of(End::Absent));
    let short = report.short.iter();
    page.list(
        "Delivered too little",
        short.map(|short| {
            let expected = counted(short.expected, "job");
            format!("{}: {} of {expected}", code(&short.step), short.delivered)
        }),
    );
    if let Some(failure) = &waited.last_failure {
        let failed = counted(waited.failed_polls, "question");
        page.line(format!(
            "{failed} to the CI system had no answer, the last: {}",
            message(failure)
        ));
    }
}

fn arrivals(report: &CollectReport, page: &mut Page) {
    let lost = report.lost.iter().map(|lost| {
        let step = lost.step.as_ref().map(|step| format!(" of {}", code(step)));
        let step = step.unwrap_or_default();
        format!(
            "`{}`: {}{step}: {}",
            lost.reason.word(),
            code(&lost.what),
            message(&lost.message)
        )
    });
    page.list("Did not arrive", lost);
    let unreadable = report.unreadable_maps.iter();
    page.list("Symbol maps that cannot be read", unreadable.map(message));
    if let Some(folded) = &report.folded {
        let reasons = folded.unusable.iter();
        let reasons =
            reasons.map(|(reason, rows)| format!("{}: {}", code(reason), counted(*rows, "row")));
        page.list("Why rows are not usable", reasons);
    }
}

fn with_state(step: &StepEnd) -> String {
    if step.state.is_empty() {
        return code(&step.step);
    }
    format!("{} ({})", code(&step.step), message(&step.state))
}

fn codes(steps: &[StepKey]) -> impl Iterator<Item = String> {
    steps.iter().map(code)
}

/// A name, set so that nothing in it is markup.
fn code(name: impl Display) -> String {
    let name = name.to_string().replace('`', "'");
    format!("`{}`", printable(&name))
}

/// A message of others on one line, without markup of theirs but code.
fn message(text: impl Display) -> String {
    let text: String = text.to_string().chars().take(MAX_MESSAGE).collect();
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = printable(&text).replace('&', "&amp;").replace('<', "&lt;");
    text.replace('[', "\\[")
}

fn counted(number: u64, noun: &str) -> String {
    let plural = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{plural}")
}
