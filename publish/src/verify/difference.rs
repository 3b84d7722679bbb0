//! Which rows of two tables differ, and how.

use kernrec_schemas::function_table::{FunctionRow, FunctionTable};
use kernrec_schemas::table::{KernelTable, Row};
use kernrec_schemas::{KernelName, StepKey};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A row that is not the same in two tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowDifference {
    /// The step.
    pub step: StepKey,
    /// In which way.
    pub change: RowChange,
    /// Fields other than those that name kernels, functions or libraries.
    pub fields: Vec<FieldDifference>,
    /// Kernels that only the first table's row has.
    pub kernels_lost: Vec<KernelName>,
    /// Kernels that only the second table's row has.
    pub kernels_gained: Vec<KernelName>,
    /// Python functions (`file:name`) and libraries that only the first table's row has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entered_lost: Vec<String>,
    /// Those that only the second table's row has.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entered_gained: Vec<String>,
}

/// In which way a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowChange {
    /// Only the first table has it.
    Missing,
    /// Only the second table has it.
    Extra,
    /// Both have it.
    Changed,
}

/// A field that differs; `null` where it is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldDifference {
    /// Its name in the document.
    pub field: String,
    /// The first table's value.
    pub first: Value,
    /// The second table's value.
    pub second: Value,
}

/// The rows that differ, by step. Kernels are compared by name: the numbers are each table's own.
pub fn differences(first: &KernelTable, second: &KernelTable) -> Vec<RowDifference> {
    let steps: BTreeSet<&StepKey> = first.rows.keys().chain(second.rows.keys()).collect();
    let compare = |step: &StepKey| {
        let (one, two) = (first.rows.get(step), second.rows.get(step));
        let (names_one, names_two) = (kernels(first, one), kernels(second, two));
        let difference = RowDifference {
            kernels_lost: names_one.difference(&names_two).copied().cloned().collect(),
            kernels_gained: names_two.difference(&names_one).copied().cloned().collect(),
            ..of_row(step, one, two)
        };
        (!difference.is_none()).then_some(difference)
    };
    steps.into_iter().filter_map(compare).collect()
}

/// The same of function tables.
pub fn function_differences(first: &FunctionTable, second: &FunctionTable) -> Vec<RowDifference> {
    let steps: BTreeSet<&StepKey> = first.rows.keys().chain(second.rows.keys()).collect();
    let compare = |step: &StepKey| {
        let (one, two) = (first.rows.get(step), second.rows.get(step));
        let (names_one, names_two) = (entered(first, one), entered(second, two));
        let difference = RowDifference {
            entered_lost: names_one.difference(&names_two).cloned().collect(),
            entered_gained: names_two.difference(&names_one).cloned().collect(),
            ..of_row(step, one, two)
        };
        (!difference.is_none()).then_some(difference)
    };
    steps.into_iter().filter_map(compare).collect()
}

impl RowDifference {
    fn is_none(&self) -> bool {
        let names = self.kernels_lost.is_empty() && self.kernels_gained.is_empty();
        let entered = self.entered_lost.is_empty() && self.entered_gained.is_empty();
        self.change == RowChange::Changed && self.fields.is_empty() && names && entered
    }
}

fn kernels<'a>(table: &'a KernelTable, row: Option<&'a Row>) -> BTreeSet<&'a KernelName> {
    row.into_iter().flat_map(|row| table.kernels(row)).collect()
}

fn entered(table: &FunctionTable, row: Option<&FunctionRow>) -> BTreeSet<String> {
    let Some(row) = row else {
        return BTreeSet::new();
    };
    let functions = table.functions_of(row);
    let functions = functions.map(|function| format!("{}:{}", function.file, function.name));
    let libraries = table.libraries_of(row).map(ToString::to_string);
    functions.chain(libraries).collect()
}

/// What differs beside the names.
fn of_row<R: Serialize>(step: &StepKey, one: Option<&R>, two: Option<&R>) -> RowDifference {
    RowDifference {
        step: step.clone(),
        change: match (one, two) {
            (Some(_), Some(_)) => RowChange::Changed,
            (Some(_), None) => RowChange::Missing,
            _ => RowChange::Extra,
        },
        fields: fields(one, two),
        kernels_lost: Vec::new(),
        kernels_gained: Vec::new(),
        entered_lost: Vec::new(),
        entered_gained: Vec::new(),
    }
}

/// Fields that hold the numbers of names.
const NUMBERS: [&str; 3] = ["kernels", "functions", "libraries"];

fn fields<R: Serialize>(first: Option<&R>, second: Option<&R>) -> Vec<FieldDifference> {
    let (Some(first), Some(second)) = (first, second) else {
        return Vec::new();
    };
    let (first, second) = (members(first), members(second));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    names
        .into_iter()
        .filter(|name| !NUMBERS.contains(&name.as_str()) && first.get(*name) != second.get(*name))
        .map(|name| FieldDifference {
            field: name.clone(),
            first: first.get(name).cloned().unwrap_or_default(),
            second: second.get(name).cloned().unwrap_or_default(),
        })
        .collect()
}

/// The row as it stands in the document, so that a field added later is compared too.
fn members(row: &impl Serialize) -> serde_json::Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(members)) => members,
        // A row is an object.
        Ok(_) | Err(_) => serde_json::Map::new(),
    }
}
