//! The shell texts that are put in.

use crate::config::Config;
use kernrec_schemas::Backend;

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
    pub(super) fn of(backend: Backend, key: &str, mention: &str, config: &Config) -> Self {
        let program = program(config);
        let set_up = filled(
            &config.texts.set_up,
            &[
                ("program", &program),
                ("backend", backend.as_str()),
                ("step", key),
            ],
        );
        let finish = filled(&config.texts.finish, &[]);
        let mention = if mention.is_empty() {
            String::new()
        } else {
            format!(" {mention}")
        };
        let clean = if config.release.is_some() {
            "[ -z \"$KERNREC_HOME\" ] || rm -rf \"$KERNREC_HOME\"\n"
        } else {
            ""
        };
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

/// Sets `KERNREC_BIN` to the program, or leaves it empty and says why.
fn program(config: &Config) -> String {
    let Some(release) = &config.release else {
        return "KERNREC_BIN=$(command -v kernrec) || { KERNREC_BIN=; \
                echo 'kernrec: not on PATH: this step runs unrecorded' >&2; }"
            .to_owned();
    };
    let text = filled(
        &config.texts.release,
        &[
            ("sha256", &release.sha256),
            ("cache", &release.cache),
            ("get", &release.get()),
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
