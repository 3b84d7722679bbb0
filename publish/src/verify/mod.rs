//! Folding a published record again from its own bundles, and comparing byte for byte.

mod difference;
mod refold;

pub use difference::{
    FieldDifference, RowChange, RowDifference, differences, function_differences,
};
pub use refold::{Refold, RefoldError, refold};
