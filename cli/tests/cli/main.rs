//! The programs as a user meets them: one module per command, one test binary.
#![expect(clippy::unwrap_used, reason = "helpers of tests panic as the tests do")]

mod arm;
mod audit;
mod compatibility;
mod context;
mod diff;
mod dockerfiles;
mod docs;
mod docs_commands;
mod documents;
mod environment;
mod explain;
mod fetch;
mod fold;
mod functions;
mod layout;
mod network;
mod pack;
mod partial_map;
mod publish;
mod python;
mod readme;
mod record;
mod reference;
mod sample;
mod select;
#[path = "../../../store/tests/support/seaweed.rs"]
mod server;
mod shell;
mod show;
mod show_more;
mod signing;
mod store;
mod symbol_map;
#[path = "../../../symbols/tests/toolchain/mod.rs"]
mod toolchain;
#[path = "../../../publish/tests/it/upstream_reader.rs"]
mod upstream_reader;
mod validate;
mod verify_build;
mod verify_files;
mod verify_record;
