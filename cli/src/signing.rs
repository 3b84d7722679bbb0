//! From the key files that a user names to keys.

use crate::args::signing::{InstalledKeyArgs, RequireKeyArgs, SignArgs};
use crate::environment;
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_store::signing::{KeyFileError, Signing, SigningKey, TrustedKeys};
use std::path::{Path, PathBuf};

/// The keys one of which must have signed; none: no signature is asked for.
pub(crate) fn required(args: &RequireKeyArgs) -> Result<TrustedKeys, CommandError> {
    public_keys(&args.require_key)
}

/// The keys one of which must have signed what is installed.
pub(crate) fn installed(args: &InstalledKeyArgs) -> Result<TrustedKeys, CommandError> {
    public_keys(&args.require_key)
}

/// How pointers are signed.
pub(crate) fn writing(args: &SignArgs, shell: &mut Shell) -> Result<Signing, CommandError> {
    let sign_key = match &args.sign_key {
        Some(path) => Some(path.clone()),
        None => environment::SIGN_KEY.read()?.map(PathBuf::from),
    };
    let signing = Signing {
        key: sign_key.map(|path| load(&path, shell)).transpose()?,
        trusted: public_keys(&args.require_key)?,
        adopt_unsigned: args.adopt_unsigned,
    };
    let no_key = |what: &str| {
        let variable = environment::SIGN_KEY.name;
        CommandError::usage(format!(
            "{what}, and nothing to sign with: give --sign-key, or set `{variable}`"
        ))
    };
    match &signing.key {
        None if signing.adopt_unsigned => return Err(no_key("--adopt-unsigned")),
        None if !signing.trusted.is_empty() => return Err(no_key("a signature is required")),
        Some(_) | None => {}
    }
    Ok(signing)
}

fn load(path: &Path, shell: &mut Shell) -> Result<SigningKey, CommandError> {
    let key = SigningKey::load(path)?;
    if key.is_exposed() {
        shell.note(format_args!(
            "warning: `{}` can be read by others than its owner: `chmod 600` keeps the key secret",
            path.display()
        ));
    }
    Ok(key)
}

/// A list in which a path is missing is an error: taken for shorter than it was meant, it could ask for nothing.
fn public_keys(given: &[PathBuf]) -> Result<TrustedKeys, CommandError> {
    if !given.is_empty() {
        return Ok(TrustedKeys::load(given)?);
    }
    let Some(list) = environment::REQUIRE_KEY.read()? else {
        return Ok(TrustedKeys::default());
    };
    if list.split(':').any(str::is_empty) {
        return Err(CommandError::usage(format!(
            "environment variable `{}` has an empty path in `{}`",
            environment::REQUIRE_KEY.name,
            list.escape_debug()
        )));
    }
    Ok(TrustedKeys::load(list.split(':'))?)
}

impl From<KeyFileError> for CommandError {
    fn from(error: KeyFileError) -> Self {
        Self::failed(error.reason(), error)
    }
}
