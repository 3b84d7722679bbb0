//! The rules of a safe selection with a function record, on random records, and a restatement of the rule to skip.

use crate::common::functions::{self, record};
use crate::common::{ask, cuda, ready, row_of, skipped, step, to_run, unavailable};
use kernrec_schemas::Backend;
use kernrec_schemas::function_table::FunctionRow;
use kernrec_schemas::table::RowReason;
use kernrec_select::{FileClass, FunctionRecord, Lineage, Moved, Pair, Record, Report};
use proptest::prelude::*;
use std::collections::BTreeSet;

const CASES: u32 = 1000;
/// Those of the pair, one that only the function record may know, and one that only the pair may know.
const STEPS: [&str; 5] = ["runs-a", "runs-b", "idle", "python-only", "kernels-only"];
const FILES: [&str; 6] = [
    "a.cu",
    "pkg/a.py",
    "pkg/b.py",
    "pkg/__init__.py",
    "pkg/unseen.py",
    "data.json",
];
const FUNCTIONS: [&str; 5] = [
    "pkg/a.py:<module>",
    "pkg/a.py:f",
    "pkg/b.py:<module>",
    "pkg/b.py:g",
    "pkg/__init__.py:<module>",
];

#[derive(Debug, Clone)]
struct World {
    pair: Option<Pair>,
    functions: Option<FunctionRecord>,
    files: Vec<&'static str>,
}

impl World {
    fn records(&self) -> Vec<Record> {
        let pair = self.pair.clone().map(ready);
        let functions = self.functions.clone().map(functions::functions);
        pair.into_iter().chain(functions).collect()
    }

    fn ask(&self) -> Report {
        ask(&self.records(), &self.files)
    }

    fn row(&mut self, key: &str) -> Option<&mut FunctionRow> {
        self.functions.as_mut()?.table.rows.get_mut(key)
    }
}

fn worsen(row: &mut FunctionRow, how: usize) {
    match how {
        0 => row.passed = false,
        1 => row.complete = false,
        2 => row.clean_exits = 0,
        3 => row.lost_lines = 1,
        4 => row.tests.executed = 0,
        5 => row.functions.push(99),
        6 => row.commits.clear(),
        _ => _ = row.reasons.insert(RowReason::Unreadable),
    }
}

fn damage(record: &mut FunctionRecord, how: usize) {
    match how {
        0 => record.published_at = None,
        1 => record.revoked = true,
        2 => record.unverified = Some("nobody signed".to_owned()),
        3 => {
            record.lineage = Lineage::Broken {
                reason: "record-not-an-ancestor".to_owned(),
                problem: "it is none".to_owned(),
            }
        }
        4 => record.lineage = Lineage::Ancestor(Moved::of_files(FILES)),
        _ => record.table.rows.clear(),
    }
}

fn any_functions() -> impl Strategy<Value = FunctionRecord> {
    let entered = prop::sample::subsequence(FUNCTIONS.to_vec(), 1..=4);
    let row = (
        prop::sample::select(&STEPS[..4]),
        entered,
        prop::option::weighted(0.1, 0..8_usize),
    );
    let damaged = prop::option::weighted(0.15, 0..5_usize);
    (prop::collection::vec(row, 1..6), damaged).prop_map(|(rows, damaged)| {
        let all: Vec<functions::Entered<'_>> = rows
            .iter()
            .map(|(key, entered, _)| (*key, entered.as_slice()))
            .collect();
        let mut record = record(&all);
        for (key, _, how) in &rows {
            if let (Some(how), Some(row)) = (how, record.table.rows.get_mut(*key)) {
                worsen(row, *how);
            }
        }
        if let Some(how) = damaged {
            damage(&mut record, how);
        }
        record
    })
}

fn any_world() -> impl Strategy<Value = World> {
    let pair = prop::option::weighted(
        0.8,
        prop::bool::weighted(0.9).prop_map(|is_healthy| {
            let mut pair = cuda();
            let row = row_of(&mut pair, "idle").clone();
            pair.table.rows.insert(step("kernels-only"), row);
            row_of(&mut pair, "idle").passed = is_healthy;
            pair
        }),
    );
    let files = prop_oneof![
        6 => prop::sample::subsequence(FILES[..3].to_vec(), 1..=3),
        1 => prop::sample::subsequence(FILES.to_vec(), 1..=4),
    ];
    (pair, prop::option::weighted(0.9, any_functions()), files)
        .prop_filter("some record", |(pair, functions, _)| {
            pair.is_some() || functions.is_some()
        })
        .prop_map(|(pair, functions, files)| World {
            pair,
            functions,
            files,
        })
}

fn is_python(file: &str) -> bool {
    file.contains(".py")
}

/// Every condition by itself, over the raw documents.
fn expected_skips(world: &World) -> BTreeSet<String> {
    let lets_go = |key: &str| {
        let mut lets = true;
        for file in &world.files {
            lets &= if let Some(record) = world.functions.as_ref().filter(|_| is_python(file)) {
                functions_let_go(record, key, file)
            } else {
                world
                    .pair
                    .as_ref()
                    .is_some_and(|pair| kernels_let_go(pair, key, file))
            };
        }
        // What was seen selects, whoever speaks for the file.
        let entered = world.functions.as_ref().is_some_and(|record| {
            world
                .files
                .iter()
                .any(|file| has_entered(record, key, file))
        });
        lets && !entered
    };
    let steps = STEPS.into_iter().filter(|key| lets_go(key));
    steps.map(str::to_owned).collect()
}

fn kernels_let_go(pair: &Pair, key: &str, file: &str) -> bool {
    let row = pair.table.rows.get(key);
    file == "a.cu" && row.is_some_and(|row| row.is_usable() && key != "runs-a")
}

fn has_entered(record: &FunctionRecord, key: &str, file: &str) -> bool {
    let row = record.table.rows.get(key);
    row.is_some_and(|row| {
        let mut entered = record.table.functions_of(row);
        entered.any(|function| function.file.as_str() == file)
    })
}

fn functions_let_go(record: &FunctionRecord, key: &str, file: &str) -> bool {
    let is_imported = record.table.rows.values().any(|row| {
        let mut entered = record.table.functions_of(row);
        entered.any(|it| it.file.as_str() == file && it.name.as_str() == "<module>")
    });
    let is_trusted = record.published_at.is_some()
        && !record.revoked
        && record.unverified.is_none()
        && record.lineage == Lineage::Unchecked;
    let row = record.table.rows.get(key);
    is_imported
        && is_trusted
        && !file.ends_with("__init__.py")
        && row.is_some_and(|row| row.is_usable() && row.functions.iter().all(|&at| at < 99))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn a_call_more_never_removes_a_step(
        world in any_world(), key in prop::sample::select(STEPS.to_vec()), at in any::<prop::sample::Index>(),
    ) {
        let before = world.ask();
        let mut more = world;
        let known = more.functions.as_ref().map_or(0, |record| record.table.functions.len());
        if let (true, Some(row)) = (known > 0, more.row(key)) {
            row.functions.push(u32::try_from(at.index(known)).unwrap());
        }
        let after = more.ask();
        // A file that nobody had been seen to import may become news.
        let classes = |report: &Report| -> Vec<Option<FileClass>> {
            report.files.iter().map(|file| file.functions.as_ref().map(|it| it.class)).collect()
        };
        let is_same = classes(&before) == classes(&after);
        prop_assert!(!to_run(&before).contains(&step(key)) || to_run(&after).contains(&step(key)));
        if is_same {
            prop_assert!(to_run(&before).is_subset(&to_run(&after)));
        }
    }

    #[test]
    fn a_worse_row_never_skips_more(
        world in any_world(), key in prop::sample::select(STEPS.to_vec()), how in 0..8_usize,
    ) {
        let before = world.ask();
        let mut worse = world;
        if let Some(row) = worse.row(key) {
            worsen(row, how);
        }
        prop_assert!(skipped(&worse.ask()).is_subset(&skipped(&before)));
    }

    /// Neither does a record that is damaged, or known to be missing.
    #[test]
    fn a_worse_record_never_skips_more(world in any_world(), how in 0..7_usize) {
        prop_assume!(world.functions.is_some());
        let before = world.ask();
        let mut worse = world.clone();
        let record = worse.functions.as_mut().unwrap();
        let after = if how < 6 {
            damage(record, how);
            worse.ask()
        } else {
            let mut records = world.records();
            records.pop();
            records.push(unavailable(Backend::Python));
            ask(&records, &world.files)
        };
        prop_assert!(skipped(&after).is_subset(&skipped(&before)));
    }

    #[test]
    fn the_order_of_records_does_not_matter(world in any_world()) {
        let mut records = world.records();
        records.reverse();
        prop_assert_eq!(world.ask(), ask(&records, &world.files));
    }

    #[test]
    fn the_skipped_are_those_of_the_restated_rule(world in any_world()) {
        let report = world.ask();
        let found: BTreeSet<String> = skipped(&report).iter().map(ToString::to_string).collect();
        prop_assert!(skipped(&report).is_disjoint(&to_run(&report)));
        prop_assert_eq!(found, expected_skips(&world));
    }
}

/// The generator must reach both answers often, or the rules above hold for nothing.
#[test]
fn random_records_let_steps_go_and_keep_them() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let reports = (0..300).map(|_| any_world().new_tree(&mut runner).unwrap().current().ask());
    let lets_go = reports.filter(|report| !report.everything_must_run).count();
    assert!(
        (30..270).contains(&lets_go),
        "{lets_go} of 300 let a step go"
    );
}
