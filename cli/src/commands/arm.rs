//! `kernrec arm`: a filter before the upload of a pipeline.

use crate::args::arm::{ArmArgs, OnError};
use crate::branch;
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_pipeline::{
    Armed, CollectorReport, Config, Fate, MAX_BYTES, StepReport, Switches, arm,
};
use kernrec_schemas::Backend;
use kernrec_schemas::exit::Exit;
use kernrec_store::fsio::FsError;
use std::fmt::Write as _;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// The configuration that is read unasked.
const CONFIG: &str = "kernrec.toml";
/// The largest configuration that is read, in bytes.
const MAX_CONFIG: u64 = 1 << 20;

pub(crate) fn run(args: &ArmArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let pipeline = pipeline(args)?;
    match armed(args, &pipeline, shell) {
        Err(error) if args.on_error == OnError::Passthrough && !args.explain => {
            for line in error.lines() {
                shell.note(line);
            }
            shell.note("the pipeline is passed on unarmed");
            shell.bytes(&pipeline)?;
            Ok(Exit::Done)
        }
        ended => ended,
    }
}

fn armed(args: &ArmArgs, pipeline: &[u8], shell: &mut Shell) -> Result<Exit, CommandError> {
    let config = config(args.config.as_deref())?;
    // Anything but text is not exactly `1`.
    let switches = config.switched_on(|name| std::env::var(name).ok());
    if switches.on().next().is_none() && !args.explain {
        shell.bytes(pipeline)?;
        return Ok(Exit::Done);
    }
    let name = args.pipeline.as_deref().unwrap_or(Path::new("stdin"));
    // Nor is it the branch to publish.
    let branch = branch::built(None).unwrap_or(None);
    let armed = arm(pipeline, &config, switches, branch.as_deref())
        .map_err(|error| CommandError::usage(format!("`{}`: {error}", name.display())))?;
    if args.explain {
        return explain(&armed, switches, shell);
    }
    shell.bytes(&armed.bytes)?;
    for report in armed.collectors {
        if report.not_added.is_some() {
            shell.note(collector(&report));
        }
    }
    Ok(Exit::Done)
}

fn pipeline(args: &ArmArgs) -> Result<Vec<u8>, CommandError> {
    let path = args.pipeline.as_deref();
    let mut bytes = Vec::new();
    // One byte more than may be, so that too much is seen.
    let limit = MAX_BYTES as u64 + 1;
    let read = match path {
        Some(path) => {
            fs_err::File::open(path).and_then(|file| file.take(limit).read_to_end(&mut bytes))
        }
        None => io::stdin().take(limit).read_to_end(&mut bytes),
    };
    read.map_err(FsError::on("read", path.unwrap_or(Path::new("stdin"))))?;
    if bytes.len() > MAX_BYTES {
        return Err(CommandError::usage(format!(
            "the pipeline has more than {MAX_BYTES} bytes"
        )));
    }
    Ok(bytes)
}

fn config(named: Option<&Path>) -> Result<Config, CommandError> {
    let here = PathBuf::from(CONFIG);
    let path = match named {
        Some(path) => path,
        None if here.exists() => &here,
        None => return Ok(Config::built_in()),
    };
    let mut text = String::new();
    let file = fs_err::File::open(path).map_err(FsError::on("open", path))?;
    file.take(MAX_CONFIG)
        .read_to_string(&mut text)
        .map_err(FsError::on("read", path))?;
    Config::parse(&text)
        .map_err(|error| CommandError::usage(format!("`{}`: {error}", path.display())))
}

/// A line for each step, how many are armed, and what collects from them.
fn explain(armed: &Armed, switches: Switches, shell: &mut Shell) -> Result<Exit, CommandError> {
    let steps = armed.steps.as_slice();
    let width = |text: fn(&StepReport) -> &str| {
        let longest = steps.iter().map(|step| text(step).chars().count()).max();
        longest.unwrap_or_default().min(48)
    };
    let (names, rules) = (width(|step| &step.name), width(|step| &step.rule));
    for step in steps {
        let StepReport {
            name,
            fate,
            rule,
            detail,
        } = step;
        let fate = words(*fate);
        let line = format!("{name:names$}  {fate:18}  {rule:rules$}  {detail}");
        shell.line(line.trim_end().replace('\n', " "))?;
    }
    let count = steps
        .iter()
        .filter(|step| matches!(step.fate, Fate::Armed { .. }))
        .count();
    let on: Vec<&str> = switches.on().map(Backend::as_str).collect();
    let on = if on.is_empty() {
        "no backend".to_owned()
    } else {
        on.join(" and ")
    };
    shell.line(format_args!(
        "{count} of {} steps are armed, for {on}",
        steps.len()
    ))?;
    for report in &armed.collectors {
        shell.line(collector(report))?;
    }
    Ok(Exit::Done)
}

/// What a collector waits for, or why there is none.
fn collector(report: &CollectorReport) -> String {
    let CollectorReport {
        key,
        waits_for,
        jobs,
        depends_on,
        behind_a_block,
        not_added,
    } = report;
    if let Some(word) = not_added {
        return format!("{key} is not added: {word}");
    }
    let armed = waits_for.len() + behind_a_block.len();
    let jobs = if *jobs == 1 {
        "1 job"
    } else {
        &format!("{jobs} jobs")
    };
    let mut text = format!(
        "{key} waits for {} of {armed} armed steps ({jobs})",
        waits_for.len()
    );
    if !depends_on.is_empty() {
        let _ = write!(text, ", from when {} ended", depends_on.join(", "));
    }
    if !behind_a_block.is_empty() {
        let _ = write!(text, "; behind a block: {}", behind_a_block.join(", "));
    }
    text
}

fn words(fate: Fate) -> String {
    match fate {
        Fate::Armed { kernels, python } => {
            let python = python.then_some(Backend::Python);
            let recorded = kernels.into_iter().chain(python).map(Backend::as_str);
            format!("armed ({})", recorded.collect::<Vec<_>>().join(", "))
        }
        Fate::Mapped(backend) => format!("symbol map ({backend})"),
        Fate::NotArmed => "not armed".to_owned(),
    }
}
