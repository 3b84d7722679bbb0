//! A report as data, written as text for people or as JSON for programs, so that both say the same.

mod text;

use serde_json::{Map, Value};

/// One report: a title, facts, and tables of rows.
#[derive(Debug, Clone)]
pub(crate) struct Summary {
    kind: &'static str,
    title: String,
    facts: Vec<(&'static str, Value)>,
    sections: Vec<Section>,
}

/// A table of rows below the facts.
#[derive(Debug, Clone)]
pub(crate) struct Section {
    key: &'static str,
    title: String,
    columns: &'static [&'static str],
    rows: Vec<Vec<Value>>,
    /// Rows of the text form, which leaves the table out for 0; the JSON form has all.
    shown: usize,
}

impl Summary {
    /// Starts a report; `kind` is the stable word for programs.
    pub(crate) fn new(kind: &'static str, title: impl Into<String>) -> Self {
        Self {
            kind,
            title: title.into(),
            facts: Vec::new(),
            sections: Vec::new(),
        }
    }

    /// Adds a fact. The text form shows the key with spaces for underscores.
    pub(crate) fn fact(&mut self, key: &'static str, value: impl Into<Value>) {
        self.facts.push((key, value.into()));
    }

    /// Adds a fact if it is known.
    pub(crate) fn fact_if<T: Into<Value>>(&mut self, key: &'static str, value: Option<T>) {
        if let Some(value) = value {
            self.fact(key, value);
        }
    }

    /// Adds a table; an empty one is left out of the text form.
    pub(crate) fn section(&mut self, section: Section) {
        self.sections.push(section);
    }

    /// The text form, ending in a line end.
    pub(crate) fn to_text(&self) -> String {
        text::render(self)
    }

    /// The JSON form: facts and tables by key, and `kind`.
    pub(crate) fn to_json(&self) -> Value {
        let mut object = Map::new();
        object.insert("kind".to_owned(), self.kind.into());
        for (key, value) in &self.facts {
            object.insert((*key).to_owned(), value.clone());
        }
        for section in &self.sections {
            object.insert(section.key.to_owned(), section.to_json());
        }
        Value::Object(object)
    }
}

impl Section {
    /// Starts a table whose columns have these names; `shown` rows appear in the text form.
    pub(crate) fn new(
        key: &'static str,
        title: impl Into<String>,
        columns: &'static [&'static str],
        shown: usize,
    ) -> Self {
        Self {
            key,
            title: title.into(),
            columns,
            rows: Vec::new(),
            shown,
        }
    }

    /// Adds a row, one value per column.
    pub(crate) fn row<const N: usize>(&mut self, values: [Value; N]) {
        debug_assert_eq!(
            N,
            self.columns.len(),
            "one value per column of {}",
            self.key
        );
        self.rows.push(values.into());
    }

    fn to_json(&self) -> Value {
        let object = |row: &Vec<Value>| {
            let named = self.columns.iter().zip(row);
            Value::Object(
                named
                    .map(|(column, value)| ((*column).to_owned(), value.clone()))
                    .collect(),
            )
        };
        self.rows.iter().map(object).collect()
    }
}

/// A text value of anything that is written as text.
pub(crate) fn text(value: impl std::fmt::Display) -> Value {
    Value::String(value.to_string())
}

/// A list of texts.
pub(crate) fn texts<T: std::fmt::Display>(values: impl IntoIterator<Item = T>) -> Value {
    values.into_iter().map(text).collect()
}

/// `1 job`, `2 jobs`.
pub(crate) fn counted(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}
