//! The report as a comment on a pull request.
//!
//! The same question gives the same text, so that a comment that is written again changes only when the answer does:
//! no times and no ages. Whatever others wrote (names of files, steps and kernels, messages) stands in code, where
//! neither Markdown nor GitHub reads anything into it.

use super::demangle::demangled;
use super::keys::{unlisted, without_key};
use super::words::{attributed, counted, entered, is_concerned, limits_of, steps, worth};
use crate::decision::{Fate, Reason};
use crate::evidence::FileClass;
use crate::report::{
    EnteredReport, FileReport, FileSeen, FunctionsSeen, KeptStep, LaunchReport, RecordReport,
    RecordState, Report, SelectedStep, SkippedStep, VerdictReport,
};
use kernrec_schemas::shown::printable;
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{Backend, Commit, StepKey};

/// The longest comment. GitHub takes 65,536 characters.
pub const MAX_MARKDOWN_BYTES: usize = 60_000;

/// Marks the comment, for whoever replaces an older one.
const MARK: &str = "<!-- kernrec-selection -->";

/// How many rows a table shows, from most to least, until the comment is short enough.
const ROWS: [usize; 4] = [200, 60, 20, 5];
/// Tables of more rows are collapsed.
const OPEN_ROWS: usize = 15;
/// How many names a cell shows.
const NAMES: usize = 8;
/// The longest name, in characters.
const NAME_CHARACTERS: usize = 160;
/// How many kernels of a step are named.
const KERNELS: usize = 3;
const COMMIT_DIGITS: usize = 12;

/// The whole comment, at most [`MAX_MARKDOWN_BYTES`] long.
pub fn markdown(report: &Report) -> String {
    let fitting = ROWS.into_iter().map(|rows| comment(report, rows));
    let fits = |text: &String| text.len() <= MAX_MARKDOWN_BYTES;
    let shortest = || format!("{MARK}\n{}\n", summary(report));
    fitting.into_iter().find(fits).unwrap_or_else(shortest)
}

fn comment(report: &Report, rows: usize) -> String {
    let mut page = Page {
        text: format!("{MARK}\n{}\n", summary(report)),
        rows,
    };
    page.text.push_str(&facts(report));
    let count = |steps: usize| steps.to_string();
    let files = file_rows(&report.files);
    page.table(
        "Changed files",
        &count(report.files.len()),
        &FILE_HEAD,
        files,
    );
    let selected = report.selected.iter().map(selected_row);
    let head = ["step", "what it reached"];
    page.table("Selected", &count(report.selected.len()), &head, selected);
    let kept = kept_rows(&report.kept);
    page.table(
        "Kept, and why",
        &count(report.kept.len()),
        &REASON_HEAD,
        kept,
    );
    page.all("kept", report.kept.iter().map(|step| &step.step));
    let skipped = skipped_rows(&report.skipped);
    page.table(
        "Skipped, and why",
        &count(report.skipped.len()),
        &REASON_HEAD,
        skipped,
    );
    page.all("skipped", report.skipped.iter().map(|step| &step.step));
    page.text
}

const FILE_HEAD: [&str; 5] = [
    "file",
    "backend",
    "kernels or functions",
    "launched or entered by",
    "silence about it",
];
const REASON_HEAD: [&str; 3] = ["reason", "steps", "which"];

struct Page {
    text: String,
    rows: usize,
}

impl Page {
    fn table<const N: usize>(
        &mut self,
        title: &str,
        count: &str,
        head: &[&str; N],
        rows: impl Iterator<Item = [String; N]>,
    ) {
        let mut rows: Vec<[String; N]> = rows.collect();
        if rows.is_empty() {
            return;
        }
        let all = rows.len();
        rows.truncate(self.rows);
        let open = if all <= OPEN_ROWS { " open" } else { "" };
        let head = head.join(" | ");
        let rule = " --- |".repeat(N);
        let title = format!("<details{open}><summary><b>{title}</b> ({count})</summary>");
        self.text
            .extend(["\n", &title, "\n\n| ", &head, " |\n|", &rule, "\n"]);
        for row in &rows {
            self.text.extend(["| ", &row.join(" | "), " |\n"]);
        }
        if all > rows.len() {
            let more = (all - rows.len()).to_string();
            self.text.extend(["\nand ", &more, " more\n"]);
        }
        self.text.push_str("\n</details>\n");
    }

    /// All steps of one fate by name, collapsed, where the table names the first few.
    fn all<'s>(&mut self, fate: &str, steps: impl ExactSizeIterator<Item = &'s StepKey>) {
        let count = steps.len();
        if count <= NAMES {
            return;
        }
        let mut names: Vec<String> = steps
            .take(self.rows * NAMES)
            .map(|step| code(step.as_str()))
            .collect();
        if count > names.len() {
            names.push(format!("and {} more", count - names.len()));
        }
        let title = format!("<details><summary>All {count} {fate} steps</summary>");
        self.text
            .extend(["\n", &title, "\n\n", &names.join(", "), "\n\n</details>\n"]);
    }
}

fn summary(report: &Report) -> String {
    let counts = &report.counts;
    let total = if report.step_file.is_some() {
        format!("{} in the step file", steps(counts.steps))
    } else {
        format!("{} recorded", steps(counts.steps))
    };
    if let Some(stopped) = &report.stopped {
        return format!(
            "**kernrec: everything must run.** {}: {}",
            stopped.reason,
            code(&stopped.problem)
        );
    }
    let parts = format!(
        "{} selected, {} kept, {} may be skipped",
        counts.selected, counts.kept, counts.skipped
    );
    if report.everything_must_run {
        return format!("**kernrec: everything must run.** {total}: {parts}.");
    }
    format!(
        "**kernrec: {} of {total} may be skipped.** {parts}.",
        counts.skipped
    )
}

/// What holds for the whole answer: the change, the records, what is assumed, notes.
fn facts(report: &Report) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some(change) = &report.change {
        let short = |commit: &str| code(&commit.chars().take(COMMIT_DIGITS).collect::<String>());
        lines.push(format!(
            "change from {} to {}",
            short(&change.base),
            short(&change.head)
        ));
    }
    lines.extend(report.records.iter().map(record_line));
    if report.stopped.is_none() {
        lines.extend(
            report
                .assumes
                .iter()
                .map(|assumed| assumed.meaning().to_owned()),
        );
        lines.push(unlisted(report).to_owned());
    }
    lines.extend(without_key(report));
    for note in &report.notes {
        lines.push(format!(
            "note: {}: {}",
            note.reason.word(),
            code(&note.message)
        ));
    }
    let mut text = String::new();
    for line in &lines {
        text.extend(["\n- ", line]);
    }
    text + "\n"
}

fn record_line(record: &RecordReport) -> String {
    let backend = record.backend;
    match &record.state {
        RecordState::Ready {
            build,
            commit,
            rows,
            usable_rows,
            problems,
            ..
        } => {
            let commit = commit.as_ref().map_or("no commit", Commit::as_str);
            let commit: String = commit.chars().take(COMMIT_DIGITS).collect();
            let mut line = format!(
                "{backend}: record of {}, build {build}, {rows} rows, {usable_rows} usable{}",
                code(&commit),
                limits_of(record),
            );
            for problem in problems {
                line.extend([" (", &code(&problem.problem), ")"]);
            }
            line
        }
        RecordState::Unavailable { reason, problem } => {
            format!("{backend}: unavailable: {reason}: {}", code(problem))
        }
    }
}

fn file_rows(files: &[FileReport]) -> impl Iterator<Item = [String; 5]> {
    files.iter().flat_map(|file| {
        let seen = file.seen.iter().filter(|seen| is_concerned(file, seen));
        let rows = seen.map(file_row);
        let rows = rows.chain(file.functions.iter().map(function_row));
        rows.enumerate().map(|(at, row)| {
            let [backend, kernels, launched, worth] = row;
            let name = if at == 0 {
                code(&file.path)
            } else {
                String::new()
            };
            [name, backend, kernels, launched, worth]
        })
    })
}

fn file_row(seen: &FileSeen) -> [String; 4] {
    let (kernels, launched) = if seen.class == FileClass::FileNotInMap {
        (String::new(), String::new())
    } else {
        (
            format!("{}, {} launched", seen.kernels, seen.launched_kernels),
            which(seen.steps.iter().map(|count| &count.step)),
        )
    };
    let mut worth = worth(seen.class, &seen.causes, seen.moved);
    if let Some(attribution) = &seen.attribution {
        worth.extend(["<br>", &attributed(attribution)]);
    }
    [seen.backend.to_string(), kernels, launched, worth]
}

fn function_row(seen: &FunctionsSeen) -> [String; 4] {
    let launched = if seen.class == FileClass::FileNotInRecord {
        String::new()
    } else {
        which(seen.steps.iter().map(|count| &count.step))
    };
    let worth = worth(seen.class, &seen.causes, seen.moved);
    [
        Backend::Python.to_string(),
        entered(seen),
        launched,
        format!("{worth}<br>{}", seen.word),
    ]
}

/// A few steps by name, more by their number.
fn which<'s>(steps_of: impl ExactSizeIterator<Item = &'s StepKey>) -> String {
    match steps_of.len() {
        0 => "no step".to_owned(),
        1..=KERNELS => {
            let names = steps_of.map(|step| code(step.as_str()));
            names.collect::<Vec<_>>().join(", ")
        }
        count => steps(count),
    }
}

fn selected_row(step: &SelectedStep) -> [String; 2] {
    let launches = step.launched.iter().map(launch);
    let launches = launches.chain(step.entered.iter().map(entered_cell));
    [
        code(step.step.as_str()),
        launches.collect::<Vec<_>>().join("<br>"),
    ]
}

fn launch(launch: &LaunchReport) -> String {
    let of = match (launch.files.first(), launch.file_count) {
        (Some(file), 1) => code(file),
        (_, count) => counted(count, "changed file"),
    };
    let shown = launch.kernels.iter().take(KERNELS);
    let mut names: Vec<String> = shown
        .map(|kernel| code(&demangled(kernel.as_str())))
        .collect();
    names.dedup();
    let more = if launch.kernel_count > names.len() as u64 {
        ", …"
    } else {
        ""
    };
    format!(
        "{}: {} of {of}: {}{more}",
        launch.backend,
        counted(launch.kernel_count, "kernel"),
        names.join(", ")
    )
}

fn entered_cell(entered: &EnteredReport) -> String {
    let mut parts = Vec::new();
    if entered.function_count > 0 {
        let shown = entered.functions.iter().take(KERNELS);
        let names: Vec<String> = shown
            .map(|function| format!("{} of {}", code(&function.name), code(&function.file)))
            .collect();
        let more = if entered.function_count > names.len() as u64 {
            ", …"
        } else {
            ""
        };
        let count = counted(entered.function_count, "function");
        parts.push(format!("{count}: {}{more}", names.join(", ")));
    }
    if !entered.libraries.is_empty() {
        let names: Vec<String> = entered.libraries.iter().map(|name| code(name)).collect();
        parts.push(format!("used {}", names.join(", ")));
    }
    format!("{}: {}", Backend::Python, parts.join("<br>"))
}

fn kept_rows(kept: &[KeptStep]) -> impl Iterator<Item = [String; 3]> {
    let kinds = Reason::ALL
        .into_iter()
        .filter(|reason| reason.fate() == Fate::Kept);
    kinds.filter_map(move |reason| {
        let steps: Vec<&KeptStep> = kept.iter().filter(|step| step.reason == reason).collect();
        let which = steps.iter().map(|step| {
            let why = step.verdicts.iter().filter_map(doubts).collect::<Vec<_>>();
            if why.is_empty() {
                code(step.step.as_str())
            } else {
                format!("{} ({})", code(step.step.as_str()), why.join("; "))
            }
        });
        reason_row(reason, steps.len(), which)
    })
}

fn doubts(verdict: &VerdictReport) -> Option<String> {
    let words: Vec<String> = verdict.row_reasons.iter().map(row_reason).collect();
    (!words.is_empty()).then(|| words.join(", "))
}

/// A later version of the recorder may have words that are not known here.
fn row_reason(reason: &RowReason) -> String {
    let is_ours = |c: char| c.is_ascii_lowercase() || c == '-';
    let word = reason.word();
    if word.chars().all(is_ours) {
        word.to_owned()
    } else {
        code(word)
    }
}

fn skipped_rows(skipped: &[SkippedStep]) -> impl Iterator<Item = [String; 3]> {
    Reason::ALL.into_iter().filter_map(move |reason| {
        let steps = || skipped.iter().filter(move |step| step.reason == reason);
        reason_row(
            reason,
            steps().count(),
            steps().map(|step| code(step.step.as_str())),
        )
    })
}

/// One reason with the first steps that have it; `None` when none has.
fn reason_row(
    reason: Reason,
    count: usize,
    which: impl Iterator<Item = String>,
) -> Option<[String; 3]> {
    let mut names: Vec<String> = which.take(NAMES).collect();
    if count > names.len() {
        names.push(format!("and {} more", count - names.len()));
    }
    (count > 0).then(|| {
        [
            format!("{reason}: {}", reason.meaning()),
            count.to_string(),
            names.join(", "),
        ]
    })
}

/// Text of others as code: in backticks, or where those could end early, letter by letter.
fn code(text: &str) -> String {
    let text = printable(text);
    let mut shown: String = text.chars().take(NAME_CHARACTERS).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    let is_plain = !shown.contains(['`', '|', '\\']) && !shown.is_empty() && shown.trim() == shown;
    if is_plain {
        return format!("`{shown}`");
    }
    let mut spelled = String::new();
    for character in shown.chars() {
        if character.is_ascii_punctuation() {
            spelled.extend(["&#", &u32::from(character).to_string(), ";"]);
        } else {
            spelled.push(character);
        }
    }
    format!("<code>{spelled}</code>")
}
