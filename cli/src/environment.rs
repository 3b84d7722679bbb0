//! Every environment variable the programs read: one table, also printed in the docs.
//!
//! A variable that is set but empty counts as not set: CI systems export what they do not know as "".

/// A variable and what it stands in for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Variable {
    /// Its name.
    pub name: &'static str,
    /// One line for the documentation.
    pub meaning: &'static str,
}

macro_rules! variables {
    ($($constant:ident = $name:literal, $meaning:literal;)+) => {
        $(pub(crate) const $constant: Variable = Variable { name: $name, meaning: $meaning };)+

        /// All of them, in the order they are documented.
        pub const VARIABLES: &[Variable] = &[$($constant,)+];
    };
}

variables! {
    CI = "CI", "`true` turns progress bars off even on a terminal";
}
