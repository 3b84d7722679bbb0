//! The shell texts that are put in.

use super::decide::Record;
use super::place::Place;
use crate::config::{Collect, Config};
use kernrec_schemas::Backend;
use std::fmt::Write as _;

/// Begins what is put in, so that an armed step is known for one.
pub(super) const MARK: &str = ": kernrec-arm/1";

/// Around a step's own commands.
#[derive(Debug)]
pub(super) struct Around {
    pub(super) before: String,
    pub(super) after: String,
}

impl Around {
    /// One group, so that a chain with `&&` before or behind it stays a chain. The own commands run in a
    /// sub-shell of the same shell with the same options, so that neither an `exit` nor a failure under
    /// `set -e` nor a trap of theirs keeps the finish from running, and their status is the group's.
    pub(super) fn of(record: &Record<'_>, config: &Config) -> Self {
        let program = program(config, "this step runs unrecorded");
        let set_up = filled(
            &config.texts.set_up,
            &[
                ("program", &program),
                ("backend", record.kernels.map_or("none", Backend::as_str)),
                ("python", &python(record, config)),
                ("step", record.key),
            ],
        );
        let finish = filled(&config.texts.finish, &[]);
        let mention = match record.runs.place {
            Place::Variable { mention, .. } if !mention.is_empty() => format!(" {mention}"),
            _ => String::new(),
        };
        let clean = clean(config);
        let before = format!(
            "{{ {MARK}{mention}\n\
             case $- in *e*) KERNREC_SET=-e ;; *) KERNREC_SET=+e ;; esac\n\
             set +e\n\
             {set_up}\n\
             ( set \"$KERNREC_SET\""
        );
        let after = format!(
            ")\n\
             KERNREC_STATUS=$?\n\
             {finish}\n\
             {clean}\
             set \"$KERNREC_SET\"\n\
             (exit \"$KERNREC_STATUS\")\n\
             }}"
        );
        Self {
            before: uploaded(&before, config),
            after: uploaded(&after, config),
        }
    }

    /// The whole text.
    pub(super) fn text(&self, own: &str) -> String {
        let own = own.strip_suffix('\n').unwrap_or(own);
        format!("{}\n{own}\n{}", self.before, self.after)
    }
}

/// Puts what says whose recordings they are before commands that stand in a variable: the script that runs
/// them in a container may not forward it.
pub(super) fn forward(variable: &str, config: &Config) -> String {
    let identity = config.identity.join(" ");
    let text = filled(
        &config.texts.forward,
        &[("identity", &identity), ("variable", variable)],
    );
    uploaded(&format!("{MARK}\n{text}"), config)
}

/// The flags for Python's functions.
fn python(record: &Record<'_>, config: &Config) -> String {
    if !record.python {
        return String::new();
    }
    let settings = &config.python;
    let mut flags = String::from(" --python ");
    flags.push_str(if record.runs.on_host {
        "host"
    } else {
        "container"
    });
    if !settings.roots.is_empty() {
        let _ = write!(flags, " --python-roots {}", settings.roots.join(","));
    }
    if record.runs.on_host {
        flags.push_str(" --python-checkout \"$KERNREC_ROOT\"");
    } else if !settings.checkout.is_empty() {
        let _ = write!(flags, " --python-checkout '{}'", settings.checkout);
    }
    flags
}

/// What a collector is asked for.
#[derive(Debug)]
pub(super) struct Collecting<'a> {
    pub(super) backend: &'a str,
    pub(super) store: &'a str,
    /// The keys of the steps that leave symbol maps.
    pub(super) maps: &'a [String],
    /// The keys of the steps to wait for, and their jobs.
    pub(super) steps: &'a [(&'a str, u64)],
}

/// The command of a collector.
pub(super) fn collect(collecting: &Collecting<'_>, config: &Config) -> String {
    let program = program(config, "nothing is collected");
    let arguments = arguments(collecting, config);
    let text = filled(
        &config.texts.collect,
        &[("program", &program), ("arguments", &arguments)],
    );
    let clean = clean(config);
    let command = format!("{MARK}\nKERNREC_STATUS=0\n{text}\n{clean}exit \"$KERNREC_STATUS\"");
    uploaded(&command, config)
}

/// One line for each step, so that people can read what is waited for.
fn arguments(collecting: &Collecting<'_>, config: &Config) -> String {
    let Collecting {
        backend,
        store,
        maps,
        steps,
    } = collecting;
    let Collect {
        pipeline,
        only_branch,
        deadline_minutes,
        arguments,
        ..
    } = &config.collect;
    let mut text = format!(
        "--backend {backend} --store '{store}' --pipeline '{pipeline}' --deadline {deadline_minutes}m"
    );
    if !only_branch.is_empty() {
        let _ = write!(text, " --only-branch '{only_branch}'");
    }
    for argument in arguments {
        let _ = write!(text, " '{argument}'");
    }
    for map in *maps {
        let _ = write!(text, " \\\n--map-step {map}");
    }
    for (key, jobs) in *steps {
        let _ = write!(text, " \\\n--step {key}");
        if *jobs != 1 {
            let _ = write!(text, "={jobs}");
        }
    }
    text
}

/// Removes what `program` unpacked.
const fn clean(config: &Config) -> &'static str {
    if config.release.is_some() {
        "[ -z \"$KERNREC_HOME\" ] || rm -rf \"$KERNREC_HOME\"\n"
    } else {
        ""
    }
}

/// Sets `KERNREC_BIN` to the program, or leaves it empty and says why, and what then becomes of the step.
fn program(config: &Config, otherwise: &str) -> String {
    let Some(release) = &config.release else {
        return format!(
            "KERNREC_BIN=$(command -v kernrec) || {{ KERNREC_BIN=; \
             echo 'kernrec: not on PATH: {otherwise}' >&2; }}"
        );
    };
    let text = filled(
        &config.texts.release,
        &[
            ("sha256", &release.sha256),
            ("cache", &release.cache),
            ("get", &release.get()),
            ("otherwise", otherwise),
        ],
    );
    format!("KERNREC_HOME=\nKERNREC_BIN=\n{text}")
}

fn filled(text: &str, values: &[(&str, &str)]) -> String {
    values
        .iter()
        .fold(text.trim_end().to_owned(), |text, (name, value)| {
            text.replace(&format!("@{name}@"), value)
        })
}

/// The text as it must stand in a pipeline to come out of the upload as it is.
fn uploaded(text: &str, config: &Config) -> String {
    if config.interpolated {
        text.replace('$', "$$")
    } else {
        text.to_owned()
    }
}
