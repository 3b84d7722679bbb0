//! `kernrec store`: what an operator does with a store.

mod artifact;
mod check;
mod fsck;
mod gc;
mod log;
mod rollback;

use crate::args::store::{StoreArgs, TargetArgs, What};
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use kernrec_schemas::exit::Exit;
use kernrec_store::remote::RemoteOptions;
use kernrec_store::{Access, Store, open_with};

pub(crate) fn run(args: &StoreArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    match &args.what {
        What::Check(args) => check::run(args, shell),
        What::Fsck(args) => fsck::run(args, shell),
        What::Gc(args) => gc::run(args, shell),
        What::Log(args) => log::run(args, shell),
        What::Rollback(args) => rollback::run(args, shell),
        What::Put(args) => artifact::put(args, shell),
        What::Get(args) => artifact::get(args, shell),
    }
}

impl TargetArgs {
    /// Opens the store. A local one must exist: only `publish` and `store put` make one.
    fn open(
        &self,
        access: Access,
        network: &RemoteOptions,
    ) -> Result<Box<dyn Store>, CommandError> {
        Ok(open_with(&self.url, access, network)?)
    }

    const fn form(&self) -> Form {
        Form::of_flag(self.json)
    }
}
