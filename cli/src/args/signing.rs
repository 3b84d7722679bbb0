//! Keys: who signs pointers, and whose signature is required.

use std::path::PathBuf;

/// Arguments of every command that can require a signature.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Signing")]
pub(crate) struct RequireKeyArgs {
    /// Believe only pointers signed by this ed25519 public key (PEM, as `openssl pkey -pubout` writes it);
    /// given again, by any of them [env: KERNREC_REQUIRE_KEY, paths separated by `:`]
    #[arg(long, value_name = "FILE")]
    pub(crate) require_key: Vec<PathBuf>,
}

/// Arguments of every command that reads what a fetch installed.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Signing")]
pub(crate) struct InstalledKeyArgs {
    /// A record that was not installed with a pointer signed by this ed25519 public key may only add
    /// steps; given again, by any of them [env: KERNREC_REQUIRE_KEY, paths separated by `:`]
    #[arg(long, value_name = "FILE")]
    pub(crate) require_key: Vec<PathBuf>,
}

/// Arguments of every command that moves a pointer.
#[derive(Debug, Clone, clap::Args)]
#[command(next_help_heading = "Signing")]
pub(crate) struct SignArgs {
    /// Sign the pointer with this ed25519 private key (PEM, as `openssl genpkey -algorithm ed25519` writes
    /// it) [env: KERNREC_SIGN_KEY]
    #[arg(long, value_name = "FILE")]
    pub(crate) sign_key: Option<PathBuf>,

    /// Take over a pointer signed by this public key too, as after a change of keys
    /// [env: KERNREC_REQUIRE_KEY, paths separated by `:`]
    #[arg(long, value_name = "FILE")]
    pub(crate) require_key: Vec<PathBuf>,

    /// Take over an unsigned pointer, with its whole history, and sign it: once, when signing begins
    #[arg(long)]
    pub(crate) adopt_unsigned: bool,
}
