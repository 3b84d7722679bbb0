//! stdout and stderr: results go to the one, everything else to the other.

use crate::error::CommandError;
use crate::summary::Summary;
use kernrec_schemas::shown::{printable, printable_lines};
use serde::Serialize;
use std::fmt::Display;
use std::io::{self, BufWriter, Stdout, Write};

/// How results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// For people.
    Text,
    /// One JSON document.
    Json,
}

impl Form {
    /// The form a `--json` flag asks for.
    pub(crate) const fn of_flag(json: bool) -> Self {
        if json { Self::Json } else { Self::Text }
    }
}

/// The two streams of one command.
pub(crate) struct Shell {
    out: BufWriter<Stdout>,
}

impl Shell {
    pub(crate) fn new() -> Self {
        Self {
            out: BufWriter::new(io::stdout()),
        }
    }

    /// A line of the result.
    pub(crate) fn line(&mut self, line: impl Display) -> Result<(), CommandError> {
        writeln!(self.out, "{}", inert(line)).map_err(CommandError::stdout)
    }

    /// The result as one indented JSON document.
    pub(crate) fn json(&mut self, document: &impl Serialize) -> Result<(), CommandError> {
        serde_json::to_writer_pretty(&mut self.out, document)
            .map_err(io::Error::from)
            .and_then(|()| self.out.write_all(b"\n"))
            .map_err(CommandError::stdout)
    }

    /// A report, as text or as JSON.
    pub(crate) fn summary(&mut self, summary: &Summary, form: Form) -> Result<(), CommandError> {
        match form {
            Form::Json => self.json(&summary.to_json()),
            Form::Text => self
                .out
                .write_all(summary.to_text().as_bytes())
                .map_err(CommandError::stdout),
        }
    }

    /// Bytes as they are, for another program.
    pub(crate) fn bytes(&mut self, bytes: &[u8]) -> Result<(), CommandError> {
        self.out.write_all(bytes).map_err(CommandError::stdout)
    }

    /// A remark for people, of one line. Paths and what documents say may be in it, so whatever could steer the terminal
    /// or pass for a line of its own is escaped. Lost if stderr is closed: the work goes on.
    pub(crate) fn note(&mut self, note: impl Display) {
        self.remark(&printable(&note.to_string()));
    }

    /// A remark of several lines, each of which holds names of others only where a line may.
    pub(crate) fn note_lines(&mut self, note: impl Display) {
        self.remark(&printable_lines(&note.to_string()));
    }

    fn remark(&mut self, text: &str) {
        // The result so far first, so that both streams in one log stand in order.
        let _ = self.out.flush();
        let _ = writeln!(io::stderr(), "{text}");
    }

    /// Hands everything to the system.
    pub(crate) fn flush(&mut self) -> Result<(), CommandError> {
        self.out.flush().map_err(CommandError::stdout)
    }
}

/// The text with control characters escaped, line breaks excepted: names of files and steps come from others, and
/// must not move the cursor of whoever reads them.
fn inert(text: impl Display) -> String {
    let text = text.to_string();
    if !text.chars().any(|c| c.is_control() && c != '\n') {
        return text;
    }
    let escaped = text.chars().map(|c| {
        if c.is_control() && c != '\n' {
            c.escape_default().to_string()
        } else {
            c.to_string()
        }
    });
    escaped.collect()
}
