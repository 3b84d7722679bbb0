//! The three programs: parse, run, say how it ended.

use crate::args::{CiFetchKernelRecord, Command, Kernrec, KernrecPublish};
use crate::commands::{self, Ended};
use crate::error::CommandError;
use crate::shell::Shell;
use clap::{CommandFactory, Parser};
use kernrec_schemas::exit::Exit;
use std::process::ExitCode;

/// The program `kernrec`.
pub fn kernrec() -> ExitCode {
    program(|args: Kernrec| args.command)
}

/// The program `kernrec-publish`.
pub fn kernrec_publish() -> ExitCode {
    program(|args: KernrecPublish| Command::Publish(args.args))
}

/// The program `ci-fetch-kernel-record`.
pub fn ci_fetch_kernel_record() -> ExitCode {
    program(|args: CiFetchKernelRecord| Command::Fetch(args.args))
}

/// The command lines of all three, for the generated reference.
pub fn command_lines() -> [clap::Command; 3] {
    [
        Kernrec::command(),
        KernrecPublish::command(),
        CiFetchKernelRecord::command(),
    ]
}

fn program<A: Parser>(command: impl FnOnce(A) -> Command) -> ExitCode {
    match A::try_parse() {
        Ok(args) => run(command(args)),
        Err(error) => {
            // --help and --version are "errors" too, for stdout and with status 0. Nobody left to tell when
            // the stream is closed.
            let _ = error.print();
            let exit = if error.use_stderr() {
                Exit::Usage
            } else {
                Exit::Done
            };
            exit.code().into()
        }
    }
}

fn run(command: Command) -> ExitCode {
    let mut shell = Shell::new();
    let json = wants_json(&command);
    let ended = match commands::run(command, &mut shell).and_then(|ended| {
        shell.flush()?;
        Ok(ended)
    }) {
        Ok(ended) => ended,
        Err(error) => Ended::Exit(report(&mut shell, &error, json)),
    };
    ended.code().into()
}

/// The text of an early end on stderr, its document on stdout if JSON was asked for.
fn report(shell: &mut Shell, error: &CommandError, json: bool) -> Exit {
    for line in error.lines() {
        shell.note(line);
    }
    if let Some(document) = error.document_for_json().filter(|_| json) {
        // Nothing more can be said about a stdout that does not take it.
        let _ = shell.json(&document).and_then(|()| shell.flush());
    }
    error.exit()
}

fn wants_json(command: &Command) -> bool {
    use crate::args::verify::What;
    match command {
        Command::Publish(args) => args.json,
        Command::Fetch(args) => args.json,
        // Nothing on stdout may be taken for a decision, for a pipeline, or for the workload's output.
        Command::Select(_)
        | Command::Run(_)
        | Command::Env(_)
        | Command::Finish(_)
        | Command::Arm(_) => false,
        Command::Python(args) => {
            let crate::args::python::What::Remove(args) = &args.what;
            args.json
        }
        Command::SymbolMap(args) => args.json,
        Command::Explain(args) => args.json,
        Command::Validate(args) => args.json,
        Command::Collect(args) => args.json,
        Command::Pack(args) => args.json,
        Command::Fold(args) => args.json,
        Command::Show(args) => args.json,
        Command::Audit(args) => args.json,
        Command::Diff(args) => args.json,
        Command::Verify(args) => match &args.what {
            What::Files(args) => args.json,
            What::Record(args) => args.json,
            What::Build(args) => args.json,
            What::Installed(args) => args.json,
        },
        Command::Store(args) => {
            use crate::args::store::What;
            match &args.what {
                What::Check(args) => args.target.json,
                What::Fsck(args) => args.target.json,
                What::Gc(args) => args.target.json,
                What::Log(args) => args.target.json,
                What::Rollback(args) => args.target.json,
                What::Put(args) => args.target.json,
                What::Get(args) => args.target.json,
            }
        }
    }
}
