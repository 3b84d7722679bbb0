//! The answer in the form that was asked for.

use crate::args::select::{FileForm, FormatArg};
use crate::environment::{self, Variable};
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::json;
use kernrec_select::{Report, Steps, render};
use kernrec_store::fsio::{FsError, write_atomic};
use std::io::Write;
use std::path::{Path, PathBuf};

/// An answer, and the pipeline that it is about.
pub(super) struct Answer<'a> {
    pub(super) report: &'a Report,
    pub(super) pipeline: Option<(&'a Steps, &'a str)>,
}

impl Answer<'_> {
    /// Writes the answer to a file, whatever it is.
    pub(super) fn write(&self, form: FileForm, path: &Path) -> Result<(), CommandError> {
        let content = match form {
            FileForm::Text => render::text(self.report).into_bytes(),
            FileForm::Json => json::pretty(self.report),
            FileForm::Markdown => render::markdown(self.report).into_bytes(),
        };
        Ok(write_atomic(path, &content)?)
    }

    /// Nothing on stdout when everything must run: an empty list would be read as "run nothing". People still get
    /// the reasons, on stderr.
    pub(super) fn print(&self, format: FormatArg, shell: &mut Shell) -> Result<Exit, CommandError> {
        if self.report.everything_must_run {
            if format == FormatArg::Github {
                self.github(shell)?;
            }
            if self.report.stopped.is_none() {
                shell.note_lines(render::text(self.report).trim_end());
            }
            return Ok(Exit::RunEverything);
        }
        match format {
            FormatArg::Text => shell.line(render::text(self.report).trim_end())?,
            FormatArg::Json => shell.json(self.report)?,
            FormatArg::Keys => self.keys(shell)?,
            FormatArg::Buildkite => return self.buildkite(shell),
            FormatArg::Github => self.github(shell)?,
            FormatArg::Markdown => shell.bytes(render::markdown(self.report).as_bytes())?,
        }
        Ok(Exit::Done)
    }

    fn keys(&self, shell: &mut Shell) -> Result<(), CommandError> {
        if let Some(keys) = render::keys(self.report) {
            shell.line(keys.trim_end())?;
        }
        self.caveats(shell);
        Ok(())
    }

    /// What the form does not say, on stderr.
    fn caveats(&self, shell: &mut Shell) {
        for caveat in render::keys_caveats(self.report) {
            shell.note(format_args!("note: {caveat}"));
        }
        for note in &self.report.notes {
            shell.note(format_args!(
                "note: {}: {}",
                note.reason.word(),
                note.message
            ));
        }
    }

    fn buildkite(&self, shell: &mut Shell) -> Result<Exit, CommandError> {
        let Some((steps, text)) = self.pipeline else {
            return Ok(Exit::RunEverything);
        };
        match steps.with_skips(text, &render::skip_reasons(self.report)) {
            Ok(written) => {
                shell.bytes(written.text.as_bytes())?;
                self.caveats(shell);
                for step in &written.left {
                    shell.note(format_args!(
                        "note: {step} runs: its place in the file is shared, or has a `skip` already"
                    ));
                }
                Ok(Exit::Done)
            }
            Err(error) => {
                shell.note(format_args!(
                    "every step must run: {}: {error}",
                    error.reason()
                ));
                Ok(Exit::RunEverything)
            }
        }
    }

    fn github(&self, shell: &mut Shell) -> Result<(), CommandError> {
        let summary = render::markdown(self.report);
        let outputs = render::github_outputs(self.report);
        for (variable, content) in [
            (environment::STEP_SUMMARY, summary),
            (environment::GITHUB_OUTPUT, outputs),
        ] {
            self.hand_over(variable, &content, shell)?;
        }
        Ok(())
    }

    /// Appends to the file that a variable names; without one, prints what may be printed.
    fn hand_over(
        &self,
        variable: Variable,
        content: &str,
        shell: &mut Shell,
    ) -> Result<(), CommandError> {
        match variable.read()? {
            Some(path) => append(&PathBuf::from(path), content.as_bytes()),
            None if self.report.everything_must_run => Ok(()),
            None => shell.bytes(content.as_bytes()),
        }
    }
}

/// Others write to these files too, so they are added to and not replaced.
fn append(path: &Path, content: &[u8]) -> Result<(), CommandError> {
    let file = fs_err::OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .and_then(|mut file| file.write_all(content));
    Ok(file.map_err(FsError::on("append to", path))?)
}
