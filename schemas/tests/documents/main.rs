//! Every rule of every document, case by case.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod agreement;
mod bundle;
mod function_facts;
mod function_recording;
mod function_table;
mod ids;
mod jobs;
mod manifest;
mod pointer;
mod pointer_signature;
mod recording;
mod recording_cases;
mod recording_idle;
mod sidecar;
mod stable_names;
mod strict_json;
mod symbol_map;
mod table;
mod table_rows;
mod upstream_pointer;
