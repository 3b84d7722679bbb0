//! `docs/cli.md` and the tables in the docs are what the programs say of themselves.

use crate::context::repository;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::table::RowReason;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Set to rewrite the generated parts instead of comparing them.
const UPDATE: &str = "KERNREC_UPDATE_DOCS";

#[test]
fn the_command_line_reference_is_current() {
    let mut page = String::from(
        "# Command-line reference\n\nGenerated from the programs by `cargo nextest run -p kernrec-cli`, \
         which also checks that it is current.\n\n## Environment\n\nA variable that is set but empty counts as \
         not set. A flag beats its variable.\n\n| variable | stands in for |\n| --- | --- |\n",
    );
    for variable in kernrec_cli::VARIABLES {
        let _ = writeln!(page, "| `{}` | {} |", variable.name, variable.meaning);
    }
    for mut command in kernrec_cli::command_lines() {
        command.build();
        describe(&command, &mut page);
    }
    compare("docs/cli.md", &page);
}

#[test]
fn the_recorders_variables_are_the_table_in_code() {
    for (block, column, variables) in [
        ("variables-set", "value", &kernrec_setup::variables::SET[..]),
        (
            "variables-read",
            "stands in for",
            &kernrec_setup::variables::READ[..],
        ),
    ] {
        let mut table = format!("| variable | {column} |\n| --- | --- |\n");
        for variable in variables {
            let _ = writeln!(table, "| `{}` | {} |", variable.name, variable.meaning);
        }
        compare_block("docs/recording.md", block, &table);
    }
}

#[test]
fn the_defaults_of_arming_are_those_in_code() {
    let defaults = kernrec_pipeline::Config::DEFAULTS;
    compare_block(
        "docs/pipelines.md",
        "defaults",
        &format!("```toml\n{defaults}```\n"),
    );
    let words = kernrec_pipeline::WORDS.map(str::to_owned);
    each_word_once("docs/pipelines.md", "arm-rules", &words);
    let words = kernrec_pipeline::COLLECTOR_WORDS.map(str::to_owned);
    each_word_once("docs/pipelines.md", "collector-rules", &words);
}

#[test]
fn every_word_of_a_collection_is_documented() {
    let words = kernrec_collect::Trouble::WORDS.map(str::to_owned);
    each_word_once("docs/pipelines.md", "lost-words", &words);
    let page = fs_err::read_to_string(repository().join("docs/pipelines.md")).unwrap();
    let mut words = BTreeSet::new();
    each_source(&repository().join("pipeline/collect/src"), &mut |source| {
        let obstacles = ["Obstacle::refusal(\"", "Obstacle::failure(\""];
        let made = obstacles
            .iter()
            .flat_map(|start| source.split(start).skip(1));
        words.extend(
            made.filter_map(|rest| rest.split('"').next())
                .map(str::to_owned),
        );
        words.extend(reason_words(source).map(str::to_owned));
    });
    assert!(words.len() > 15, "the words are found: {words:?}");
    // Those of files and of the command line are everybody's.
    for common in ["file-error", "usage"] {
        assert!(words.remove(common), "{common}");
    }
    words.retain(|word| {
        !page.contains(&format!("`{word}`"))
            && word != "info"
            && word != "warning"
            && word != "error"
    });
    assert!(words.is_empty(), "not in docs/pipelines.md: {words:?}");
}

#[test]
fn every_reason_not_to_record_is_documented() {
    let words = kernrec_setup::Unavailable::WORDS.map(str::to_owned);
    each_word_once("docs/recording.md", "collection-errors", &words);
}

#[test]
fn the_exit_statuses_are_the_table_in_code() {
    let mut table = String::from("| status | meaning |\n| --- | --- |\n");
    for exit in Exit::ALL {
        let _ = writeln!(table, "| {} | {} |", exit.code(), exit.meaning());
    }
    compare_block("docs/exit-statuses.md", "exit-statuses", &table);
}

#[test]
fn every_reason_of_an_unusable_row_is_documented() {
    let words: Vec<String> = RowReason::KNOWN
        .iter()
        .map(|reason| reason.word().to_owned())
        .collect();
    each_word_once("docs/formats.md", "row-reasons", &words);
}

#[test]
fn every_state_of_a_process_is_documented() {
    let words: Vec<String> = ProcessState::ALL
        .iter()
        .map(|state| state.word().to_owned())
        .collect();
    each_word_once("docs/formats.md", "process-states", &words);
}

#[test]
fn every_reason_of_a_selection_is_documented() {
    let words: Vec<String> = kernrec_select::Reason::ALL
        .iter()
        .map(|reason| reason.word().to_owned())
        .collect();
    each_word_once("docs/formats.md", "selection-reasons", &words);
}

#[test]
fn every_word_of_a_selection_has_its_advice() {
    use kernrec_select::{NoteReason, Reason};
    let page = fs_err::read_to_string(repository().join("docs/selection.md")).unwrap();
    let mut words: BTreeSet<String> = Reason::ALL.map(|reason| reason.word().to_owned()).into();
    words.extend(NoteReason::ALL.map(|note| note.word().to_owned()));
    each_source(&repository().join("select/src"), &mut |source| {
        words.extend(reason_words(source).map(str::to_owned));
    });
    // A question put wrongly, and records that cannot be read, have their advice elsewhere.
    let elsewhere = fs_err::read_to_string(repository().join("docs/formats.md")).unwrap();
    let usage = [
        "backend-given-twice",
        "changed-file-with-parent-component",
        "changed-file-without-name",
        "map-refused",
        "no-symbol-map",
        "wrong-backend",
    ];
    for word in usage {
        assert!(words.remove(word) && elsewhere.contains(word), "{word}");
    }
    assert!(words.len() > 35, "the words are found: {words:?}");
    words.retain(|word| !page.contains(&format!("`{word}`")));
    assert!(words.is_empty(), "not in docs/selection.md: {words:?}");
}

#[test]
fn every_reason_word_is_documented() {
    let page = fs_err::read_to_string(repository().join("docs/formats.md")).unwrap();
    let mut words = BTreeSet::new();
    for library in [
        "admin", "cli", "fetch", "publish", "schemas", "select", "store",
    ] {
        each_source(&repository().join(library).join("src"), &mut |source| {
            words.extend(reason_words(source).map(str::to_owned));
        });
    }
    assert!(words.len() > 100, "the words are found: {words:?}");
    let missing: Vec<_> = words
        .iter()
        .filter(|word| !page.contains(&format!("`{word}`")))
        .collect();
    assert!(missing.is_empty(), "not in docs/formats.md: {missing:?}");
}

#[test]
fn every_word_of_a_symbol_map_is_documented() {
    let page = fs_err::read_to_string(repository().join("docs/symbol-maps.md")).unwrap();
    let mut words = BTreeSet::new();
    each_source(&repository().join("symbols/src"), &mut |source| {
        if source.contains("#[test]") {
            return;
        }
        words.extend(reason_words(source).map(str::to_owned));
        let problems = source.split("Problem::new(").skip(1);
        let words_of = problems.filter_map(|rest| rest.split('"').nth(1));
        words.extend(
            words_of
                .filter(|word| !word.contains('{'))
                .map(str::to_owned),
        );
    });
    assert!(words.len() > 20, "the words are found: {words:?}");
    words.retain(|word| !page.contains(&format!("`{word}`")));
    assert!(words.is_empty(), "not in docs/symbol-maps.md: {words:?}");
}

#[test]
fn every_reason_word_of_a_store_has_its_advice() {
    let page = fs_err::read_to_string(repository().join("docs/operations.md")).unwrap();
    let mut words = BTreeSet::new();
    for library in ["admin", "fetch", "git", "publish", "store"] {
        each_source(&repository().join(library).join("src"), &mut |source| {
            words.extend(reason_words(source).map(str::to_owned));
        });
    }
    let missing: Vec<_> = words
        .iter()
        .filter(|word| !page.contains(&format!("`{word}`")))
        .collect();
    assert!(missing.is_empty(), "not in docs/operations.md: {missing:?}");
}

/// The literals of the functions `reason` and `word`, and of errors that name their reason where they are made.
fn reason_words(source: &str) -> impl Iterator<Item = &str> {
    let functions = ["fn reason(", "fn word("]
        .into_iter()
        .flat_map(|start| source.split(start).skip(1))
        .filter_map(|rest| rest.split("\n    }").next());
    let made = ["CommandError::failed(", "CommandError::refused("]
        .into_iter()
        .flat_map(|start| source.split(start).skip(1))
        .filter_map(|rest| rest.split(',').next());
    functions
        .chain(made)
        .flat_map(|text| text.split('"').skip(1).step_by(2))
        .filter(|word| {
            word.bytes()
                .all(|b| b.is_ascii_lowercase() || b == b'-' || b.is_ascii_digit())
        })
}

fn each_source(folder: &std::path::Path, read: &mut dyn FnMut(&str)) {
    for entry in fs_err::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            each_source(&path, read);
        } else {
            read(&fs_err::read_to_string(path).unwrap());
        }
    }
}

fn describe(command: &clap::Command, page: &mut String) {
    if command.get_name() == "help" {
        return;
    }
    let name = command.get_bin_name().unwrap_or(command.get_name());
    let help = command.clone().render_long_help();
    let _ = write!(
        page,
        "\n## `{name}`\n\n```text\n{}\n```\n",
        help.to_string().trim_end()
    );
    for sub in command.get_subcommands() {
        describe(sub, page);
    }
}

/// The first column of a hand-written table between markers: exactly these words, in any order.
fn each_word_once(file: &str, block: &str, words: &[String]) {
    let page = fs_err::read_to_string(repository().join(file)).unwrap();
    let (start, end) = block_of(&page, block);
    let mut documented: Vec<&str> = page[start..end]
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split('`').next())
        .collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    documented.sort_unstable();
    words.sort_unstable();
    assert_eq!(
        documented, words,
        "in {file}, between the markers `{block}`"
    );
}

fn compare(file: &str, expected: &str) {
    let path = repository().join(file);
    let found = fs_err::read_to_string(&path).unwrap_or_default();
    if std::env::var_os(UPDATE).is_some() {
        fs_err::write(&path, expected).unwrap();
        return;
    }
    assert_eq!(
        found, expected,
        "{file} is not current: run with {UPDATE}=1 and commit"
    );
}

fn compare_block(file: &str, block: &str, expected: &str) {
    let page = fs_err::read_to_string(repository().join(file)).unwrap();
    let (start, end) = block_of(&page, block);
    compare(
        file,
        &format!("{}{expected}{}", &page[..start], &page[end..]),
    );
}

fn block_of(page: &str, block: &str) -> (usize, usize) {
    let open = format!("<!-- {block} -->\n");
    let close = format!("<!-- end of {block} -->\n");
    let start = page.find(&open).unwrap() + open.len();
    (start, page.find(&close).unwrap())
}
