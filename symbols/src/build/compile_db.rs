//! `compile_commands.json`.

use super::error::BuildError;
use super::record::read_record;
use crate::input::Fault;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// One compile command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    /// Where it runs; relative paths of it are relative to this.
    pub(crate) directory: PathBuf,
    pub(crate) file: String,
    /// The object; `None` when the command names none.
    pub(crate) output: Option<String>,
    pub(crate) arguments: Vec<String>,
}

#[derive(Deserialize)]
struct Wire {
    directory: String,
    file: String,
    output: Option<String>,
    command: Option<String>,
    arguments: Option<Vec<String>>,
}

/// Reads the database at `path`.
pub(crate) fn read(path: &Path) -> Result<Vec<Command>, BuildError> {
    let bytes = read_record(path)?;
    let list: Vec<Wire> = serde_json::from_slice(&bytes).map_err(|error| {
        let expected = format!("a compile database ({error})");
        BuildError::content(path, Fault::malformed(0, expected))
    })?;
    Ok(list.into_iter().map(command).collect())
}

fn command(wire: Wire) -> Command {
    let arguments = wire
        .arguments
        .unwrap_or_else(|| split_shell(&wire.command.unwrap_or_default()));
    let named = arguments
        .windows(2)
        .find(|pair| pair[0] == "-o")
        .map(|pair| pair[1].clone());
    Command {
        directory: wire.directory.into(),
        file: wire.file,
        output: wire.output.or(named),
        arguments,
    }
}

/// The processors that `--offload-arch` options of a command name, without `native`.
pub(crate) fn offload_archs<'a>(arguments: impl Iterator<Item = &'a str>) -> BTreeSet<String> {
    arguments
        .filter_map(|word| {
            word.strip_prefix("--offload-arch=")
                .or_else(|| word.strip_prefix("--cuda-gpu-arch="))
        })
        .flat_map(|list| list.split(','))
        .filter(|arch| arch.starts_with("gfx"))
        .map(str::to_owned)
        .collect()
}

/// Splits a command as a POSIX shell does: quotes and backslashes, no expansion.
pub(crate) fn split_shell(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = command.chars();
    while let Some(next) = chars.next() {
        match next {
            ' ' | '\t' | '\n' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                word.extend(chars.by_ref().take_while(|&inner| inner != '\''));
            }
            '"' => {
                let word = word.get_or_insert_default();
                while let Some(inner) = chars.next().filter(|&inner| inner != '"') {
                    let escaped = if inner == '\\' {
                        chars.next()
                    } else {
                        Some(inner)
                    };
                    word.extend(escaped);
                }
            }
            '\\' => word.get_or_insert_default().extend(chars.next()),
            other => word.get_or_insert_default().push(other),
        }
    }
    words.extend(word);
    words
}
