//! `# end records=52 unique=2 dropped=0 errors=0 unresolved=0`

use super::fields::{Fields, number};

/// The text after the mark of a footer line; `None` for any other line. `# end` alone is one that was cut
/// short.
pub(super) fn rest_of(line: &str) -> Option<&str> {
    let rest = line.strip_prefix("# end")?;
    (rest.is_empty() || rest.starts_with(' ')).then(|| rest.trim_start_matches(' '))
}

/// What a footer counts. `errors` and `unresolved` are absent in the first version's footers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Footer {
    /// Launch records processed.
    pub records: u64,
    /// Distinct names written.
    pub unique: u64,
    /// Records lost in total.
    pub dropped: u64,
    /// Recorder errors.
    pub errors: Option<u64>,
    /// Records whose kernel had no name.
    pub unresolved: Option<u64>,
}

/// A footer line as read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FooterLine {
    Read(Footer),
    /// A key missing or repeated.
    Incomplete,
    /// A number that is none; by the format's rule this counts as a recorder error.
    Malformed,
}

impl FooterLine {
    /// Reads the text after the magic.
    pub(super) fn parse(rest: &str) -> Self {
        let fields = Fields::parse(rest);
        let keys = ["records", "unique", "dropped", "errors", "unresolved"];
        let values = keys.map(|key| fields.value(key).map(number));
        if values.contains(&Some(None)) {
            return Self::Malformed;
        }
        let [records, unique, dropped, errors, unresolved] = values.map(Option::flatten);
        match (records, unique, dropped) {
            _ if fields.repeats_a_key() => Self::Incomplete,
            (Some(records), Some(unique), Some(dropped)) => Self::Read(Footer {
                records,
                unique,
                dropped,
                errors,
                unresolved,
            }),
            _ => Self::Incomplete,
        }
    }
}
