//! From a changed source to the kernels that the change can reach.
//!
//! A change of one line in a file with a hundred kernels reaches few of them. Which, is read from the sources on both
//! sides of the change:
//!
//! 1. `lex` and `segment` split a file into items, by brackets alone.
//! 2. `diff` finds the items that differ between the sides.
//! 3. `grammar` (tree-sitter, its CUDA grammar) says what an item is: kernel, device function, host function, type...
//! 4. `taint` follows the names of changed items to whatever uses them, up to kernels and host code.
//! 5. `reach` finds the kernels that changed host code can launch, and whether it launches one whenever it runs.
//! 6. `mangled` joins the kernels' names with the symbols of the map.
//!
//! `python` does the same for Python files, whose changed functions it finds.
//!
//! Everything errs to one side: names are compared, not meanings, and what cannot be placed counts for the whole file
//! and for all that the file's host code can launch. Nothing here reads a file: sources come through [`Sources`].

mod attribute;
mod corpus;
mod diff;
mod grammar;
mod interner;
mod known;
mod lex;
mod mangled;
mod model;
mod parse;
mod python;
mod reach;
mod segment;
mod source;
mod taint;
mod view;

pub use attribute::Library;
pub use model::{
    Attribution, Build, ChangedFile, ChangedUnit, HostCode, HostDoubt, Object, Side, Sources,
    Unreadable, Why, Widening,
};
pub use python::{
    ChangedFunctions, CodeObject, CodeObjectKind, PythonAttribution, PythonReader, PythonWhy,
};
