//! `kernrec show`: any document, readably.

use crate::args::show::ShowArgs;
use crate::document::{self, Kind};
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::show;
use crate::summary::Summary;
use kernrec_schemas::DocumentError;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::installed::InstalledRecord;
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::pointer::{Pointer, UpstreamPointer};
use kernrec_schemas::recording::Recording;
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;

pub(crate) fn run(args: &ShowArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let summary = if !args.file.is_dir() && document::is_bundle(&args.file)? {
        show::bundle(&args.file, args.rows)?
    } else {
        document(args)?
    };
    shell.summary(&summary, Form::of_flag(args.json))?;
    Ok(Exit::Done)
}

fn document(args: &ShowArgs) -> Result<Summary, CommandError> {
    let bytes = document::read(&args.file)?;
    let kind = document::kind(&args.file, &bytes)?;
    summary(kind, &bytes, args.rows).map_err(|error| CommandError::document(&args.file, error))
}

fn summary(kind: Kind, bytes: &[u8], rows: usize) -> Result<Summary, DocumentError> {
    Ok(match kind {
        Kind::Recording => show::recording(&Recording::read(bytes), rows),
        Kind::Sidecar => show::sidecar(&Sidecar::parse(bytes)?),
        Kind::Table => show::table(&KernelTable::parse(bytes)?, rows),
        Kind::FunctionTable => show::function_table(&FunctionTable::parse(bytes)?, rows),
        Kind::SymbolMap => show::symbol_map(&SymbolMap::parse(bytes)?, rows),
        Kind::Manifest => show::manifest(&RecordManifest::parse(bytes)?, rows),
        Kind::Pointer => show::pointer(&Pointer::parse(bytes)?, rows),
        Kind::UpstreamPointer => show::upstream_pointer(&UpstreamPointer::parse(bytes)?),
        Kind::Installed => show::installed(&InstalledRecord::parse(bytes)?),
        Kind::Jobs => show::jobs(&JobsList::parse(bytes)?, rows),
    })
}
