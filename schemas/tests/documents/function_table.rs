//! The function table: its rules, its canonical bytes, and the paths in it.

use kernrec_schemas::DocumentError;
use kernrec_schemas::function_recording::FunctionRecording;
use kernrec_schemas::function_table::{
    CodePath, FunctionName, FunctionRow, FunctionTable, LibraryName, Places, TableFunction,
};
use kernrec_schemas::recording::ProcessState;
use kernrec_schemas::table::{KernelTable, RowReason};
use proptest::prelude::*;
use proptest::sample::{select, subsequence};
use serde_json::{Value, json};

pub(crate) fn document() -> Value {
    json!({"schema":"kernrec.functions/1",
        "source":{"org":"acme","pipeline":"ci","build":12,"commit":"c0de","recorded_at":"2030-01-01T00:00:00Z"},
        "files":[{"path":"tests/test_a.py","functions":["<module>","test_a"]},{"path":"vllm/a.py","functions":["A.f","g"]}],
        "libraries":["numpy","torch"],
        "rows":{"demo":{"jobs":1,"passed":true,"complete":true,"shards":{"expected":null,"seen":0},"processes":2,
            "clean_exits":1,"functions":[0,1,3],"libraries":[1],
            "tests":{"sessions":1,"collected":1,"executed":1,"passed":1},"health":{"clean":1,"no_footer":1},
            "interpreters":["3.12.1"],"commits":["c0de"]}},
        "stats":{"steps":1,"files":2,"functions":3,"libraries":1,"processes":2,"rows_usable":1}})
}

fn parse(value: &Value) -> Result<FunctionTable, DocumentError> {
    FunctionTable::parse(value.to_string().as_bytes())
}

fn entered(table: &FunctionTable, step: &str) -> Vec<String> {
    let functions = table.functions_of(&table.rows[step]);
    functions
        .map(|f| format!("{}:{}", f.file, f.name))
        .collect()
}

#[test]
fn the_documented_table_reads() {
    let table = parse(&document()).unwrap();
    assert_eq!(
        entered(&table, "demo"),
        [
            "tests/test_a.py:<module>",
            "tests/test_a.py:test_a",
            "vllm/a.py:g"
        ]
    );
    let row = &table.rows["demo"];
    let libraries: Vec<_> = table.libraries_of(row).map(LibraryName::as_str).collect();
    assert_eq!(libraries, ["torch"]);
    assert!(row.is_usable(), "{:?}", row.unusable_reasons());
    assert_eq!((table.usable_rows(), table.faults.len()), (1, 0));
    assert_eq!(table.indexes_in("vllm/a.py"), 2..4);
    assert!(table.indexes_in("vllm/b.py").is_empty());
    assert!(table.indexes_in("a").is_empty());
}

#[test]
fn canonical_drops_what_no_row_entered_and_is_read_again() {
    let table = parse(&document()).unwrap();
    let bytes = table.to_canonical();
    let written: Value = serde_json::from_slice(&bytes).unwrap();
    let mut expected = document();
    expected["files"][1]["functions"] = json!(["g"]);
    expected["libraries"] = json!(["torch"]);
    expected["rows"]["demo"]["functions"] = json!([0, 1, 2]);
    expected["rows"]["demo"]["libraries"] = json!([0]);
    assert_eq!(written, expected);
    let again = FunctionTable::parse(&bytes).unwrap();
    assert_eq!(again.to_canonical(), bytes);
    assert_eq!(entered(&again, "demo"), entered(&table, "demo"));
}

#[test]
fn a_table_in_another_order_or_of_nothing_is_refused() {
    for (place, value, reason) in [
        ("/schema", json!("kernrec.functions/2"), "document-version"),
        ("/schema", json!(1), "document-version"),
        ("/files/0/path", json!("vllm/a.py"), "document-refused"),
        ("/files/0/path", json!("w.py"), "document-refused"),
        ("/files/0/path", json!("/etc/a.py"), "document-malformed"),
        ("/files/0/path", json!("a/../b.py"), "document-malformed"),
        ("/files/0/path", json!("a\nb.py"), "document-malformed"),
        ("/files/0/functions", json!(["b", "a"]), "document-refused"),
        ("/files/0/functions", json!(["a", "a"]), "document-refused"),
        ("/files/0/functions", json!([""]), "document-malformed"),
        ("/libraries", json!(["b", "a"]), "document-refused"),
        ("/libraries", json!(["a/b"]), "document-malformed"),
        ("/rows", json!({}), "document-refused"),
        ("/rows", json!([]), "document-malformed"),
    ] {
        let mut table = document();
        *table.pointer_mut(place).unwrap() = value.clone();
        let error = parse(&table).unwrap_err();
        assert_eq!(error.reason(), reason, "{place}: {value}: {error}");
    }
    let twice = document()
        .to_string()
        .replace("\"demo\":", "\"demo\":{},\"demo\":");
    assert!(FunctionTable::parse(twice.as_bytes()).is_err());
}

#[test]
fn neither_table_is_taken_for_the_other() {
    let functions = document().to_string();
    assert!(KernelTable::parse(functions.as_bytes()).is_err());
    let kernels = crate::table::v3().to_string();
    let error = FunctionTable::parse(kernels.as_bytes()).unwrap_err();
    assert_eq!(error.reason(), "document-malformed");
}

#[test]
fn no_row_of_a_kernel_table_is_of_python() {
    let mut table = crate::table::v3();
    table["rows"]["demo-kernels"]["backend"] = json!("python");
    let table = KernelTable::parse(table.to_string().as_bytes()).unwrap();
    assert_eq!(table.faults.len(), 1);
    let row = &table.rows["demo-kernels"];
    assert!(!row.is_usable() && row.backend.known().is_none());
    assert_eq!(row.kernels, [0, 1], "what was seen still selects");
}

#[test]
fn a_bad_row_is_set_aside_and_what_it_entered_still_selects() {
    for (field, value) in [
        ("functions", json!([1, 4, -1, "x", 3])),
        ("libraries", json!([2])),
        ("passed", json!(1)),
        ("processes", json!(-1)),
        ("commits", json!(["a b"])),
        ("health", json!([])),
    ] {
        let mut table = document();
        table["rows"]["good"] = table["rows"]["demo"].clone();
        table["rows"]["demo"][field] = value;
        let table = parse(&table).unwrap();
        assert_eq!(table.faults[0].key, "demo", "{field}");
        let reasons = table.rows["demo"].unusable_reasons();
        assert!(reasons.contains(&RowReason::MalformedRow), "{field}");
        assert!(
            entered(&table, "demo").contains(&"vllm/a.py:g".to_owned()),
            "{field}"
        );
        assert!(table.rows["good"].is_usable(), "{field}");
    }
    let mut table = document();
    table["rows"]["a\u{7}b"] = table["rows"]["demo"].clone();
    let table = parse(&table).unwrap();
    assert_eq!((table.rows.len(), table.faults.len()), (1, 1));
}

/// Spoils a row.
type Spoil = fn(&mut FunctionRow);

/// Every way to make a row thin, with the reason it gives.
fn signs() -> Vec<(Spoil, RowReason)> {
    vec![
        (|row| row.passed = false, RowReason::NotPassed),
        (|row| row.complete = false, RowReason::ShardsIncomplete),
        (
            |row| row.shards.expected = Some(2),
            RowReason::ShardsIncomplete,
        ),
        (|row| row.jobs = 0, RowReason::NoRecording),
        (|row| row.functions.clear(), RowReason::NoFunctions),
        (|row| row.clean_exits = 0, RowReason::NoCleanExit),
        (|row| row.lost_lines = 1, RowReason::LostLines),
        (|row| row.tests.executed = 0, RowReason::RanNoTests),
        (|row| row.commits.clear(), RowReason::NoProvenance),
        (
            |row| row.health.add(ProcessState::Empty),
            RowReason::EmptyRecording,
        ),
        (
            |row| row.health.add(ProcessState::Dropped),
            RowReason::LostLines,
        ),
        (
            |row| row.health.add(ProcessState::BrokenLine),
            RowReason::BrokenLine,
        ),
        (
            |row| {
                row.reasons.insert(RowReason::JobMissing);
            },
            RowReason::JobMissing,
        ),
    ]
}

proptest! {
    #[test]
    fn a_row_with_any_sign_against_it_is_thin(signs in subsequence(signs(), 0..4)) {
        let mut row = parse(&document()).unwrap().rows["demo"].clone();
        for (sign, _) in &signs {
            sign(&mut row);
        }
        prop_assert_eq!(row.is_usable(), signs.is_empty());
        let reasons = row.unusable_reasons();
        for (_, reason) in signs {
            prop_assert!(reasons.contains(&reason), "{}", reason);
        }
    }

    /// A fold gives names in whatever order it met them, and some twice.
    #[test]
    fn the_order_of_names_leaves_no_trace(
        met in proptest::collection::vec((select(vec!["a.py", "b/c.py", "b.py"]), select(vec!["f", "g", "<module>"])), 1..12),
        rotate in 0_usize..12,
    ) {
        let table = |met: Vec<(&str, &str)>| {
            let mut table = parse(&document()).unwrap();
            table.functions = met
                .iter()
                .map(|(file, name)| TableFunction {
                    file: CodePath::new(file).unwrap(),
                    name: FunctionName::new(name).unwrap(),
                })
                .collect();
            let row = table.rows.get_mut("demo").unwrap();
            row.functions = (0..u32::try_from(met.len()).unwrap()).collect();
            table
        };
        let mut turned = met.clone();
        turned.rotate_left(rotate % met.len());
        let canonical = table(met.clone()).to_canonical();
        prop_assert_eq!(&table(turned).to_canonical(), &canonical);
        let again = FunctionTable::parse(&canonical).unwrap();
        let mut expected: Vec<_> = met.iter().map(|(file, name)| format!("{file}:{name}")).collect();
        expected.sort();
        expected.dedup();
        let mut found = entered(&again, "demo");
        found.sort();
        prop_assert_eq!(found, expected);
    }
}

#[test]
fn paths_are_those_of_a_repository_wherever_a_package_lies() {
    let recording = "#start\tpid=1\troot_env=vllm,aiter\n#root\t/py/site-packages/vllm/\tt=1\n#root\t/src/aiter/\tt=1\n#root\t/py/one.py\tt=1\n#tests\t/co/tests/\n#root\t/co/tests/vllm/\tt=1\n";
    let recording = FunctionRecording::read(recording.as_bytes());
    let places = Places::of(&recording);
    for (file, path, inside) in [
        ("/py/site-packages/vllm/v1/a.py", "vllm/v1/a.py", true),
        ("/src/aiter/ops/b.py", "aiter/ops/b.py", true),
        ("/py/one.py", "one.py", true),
        ("/co/tests/x/test_a.py", "tests/x/test_a.py", true),
        ("/co/tests/vllm/a.py", "vllm/a.py", true),
        ("/other/vllm/vllm/c.py", "vllm/c.py", false),
        ("/py/one.pyx", "py/one.pyx", false),
        ("/py/site-packages/vllm/../x.py", "", false),
    ] {
        let found = places.path(file);
        let found = found
            .as_ref()
            .map(|(path, inside)| (path.as_str(), *inside));
        let expected = (!path.is_empty()).then_some((path, inside));
        assert_eq!(found, expected, "{file}");
    }
}
