//! The Python that a step uses: found from names, and asked what it is.
//!
//! Asking starts it once, with its own `site-packages` as every process of the step does, and without `PYTHONPATH`. The
//! recorder is loaded there too: only the interpreter itself knows whether it can.

use crate::environment::Environment;
use crate::ffi::probe;
use crate::options::Purpose;
use crate::program;
use crate::reason::Unavailable;
use serde::Deserialize;
use std::io::{self, Read as _};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

const ASK: &str = include_str!("ask.py");

/// An interpreter on a cold network disk takes seconds.
const LIMIT: Duration = Duration::from_secs(30);

/// An answer is a few hundred bytes; other start-up files may print more.
const MAX_OUTPUT: usize = 64 << 10;

/// The first version that has `sys.monitoring`.
const FIRST: [u32; 2] = [3, 12];

/// What an interpreter says of itself.
#[derive(Debug)]
pub(super) struct Interpreter {
    pub(super) version: String,
    /// Where packages are installed.
    pub(super) site_packages: PathBuf,
}

/// The interpreter to record: the named one, else the command's own, that of `VIRTUAL_ENV`, or the first on `PATH`.
pub(super) fn find(
    named: Option<&Path>,
    environment: &Environment,
    purpose: Purpose<'_>,
) -> Result<PathBuf, Unavailable> {
    if let Some(named) = named {
        let missing = || Unavailable::PythonMissing(format!("`{}` is not there", named.display()));
        let found = program::find(named.as_os_str(), environment);
        return found.filter(|path| path.exists()).ok_or_else(missing);
    }
    let of_command = match purpose {
        Purpose::Command(command) => program::path_of_command(command, environment),
        Purpose::Shell => None,
    };
    let of_command = of_command.filter(|path| is_named_python(path));
    let virtual_environment = || {
        let prefix = environment.set("VIRTUAL_ENV")?;
        let bin = environment.absolute(Path::new(prefix)).join("bin");
        let mut candidates = ["python3", "python"].map(|name| bin.join(name)).into_iter();
        candidates.find(|path| path.exists())
    };
    let on_path = || {
        let mut programs = ["python3", "python"].into_iter();
        programs.find_map(|program| program::find(program.as_ref(), environment))
    };
    of_command
        .or_else(virtual_environment)
        .or_else(on_path)
        .ok_or_else(|| {
            Unavailable::PythonMissing("neither `python3` nor `python` is on `PATH`".to_owned())
        })
}

fn is_named_python(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str());
    name.is_some_and(|name| name.starts_with("python"))
}

/// Asks an interpreter what it is; with a library whether it can be recorded by it.
pub(super) fn ask(python: &Path, library: Option<&Path>) -> Result<Interpreter, Unavailable> {
    let output = run(python, library).map_err(|problem| Unavailable::PythonNotUsable {
        path: python.to_path_buf(),
        problem,
    })?;
    let is: Told = line(&output.text, "kernrec-python ").ok_or_else(|| {
        let problem = format!("no answer ({})", output.end);
        Unavailable::PythonNotUsable {
            path: python.to_path_buf(),
            problem,
        }
    })?;
    let version = is.version.map(|part| part.to_string()).join(".");
    if let Some(library) = library {
        is.check(python, &version)?;
        let loaded: Option<Loaded> = line(&output.text, "kernrec-loaded ");
        let problem = match loaded {
            Some(loaded) => loaded.problem,
            None => Some(format!("loading it ended Python ({})", output.end)),
        };
        if let Some(problem) = problem {
            return Err(Unavailable::NotLoadable {
                path: library.to_path_buf(),
                problem,
            });
        }
    }
    Ok(Interpreter {
        version,
        site_packages: PathBuf::from(is.site_packages),
    })
}

#[derive(Deserialize)]
struct Told {
    version: [u32; 3],
    implementation: String,
    free_threaded: bool,
    site_packages: String,
}

#[derive(Deserialize)]
struct Loaded {
    problem: Option<String>,
}

impl Told {
    fn check(&self, python: &Path, version: &str) -> Result<(), Unavailable> {
        let path = python.to_path_buf();
        let not_supported = |found: String| Unavailable::PythonNotSupported {
            path: path.clone(),
            found,
        };
        if self.implementation != "cpython" {
            return Err(not_supported(format!("{} {version}", self.implementation)));
        }
        if self.version[..2] < FIRST[..] {
            return Err(Unavailable::PythonTooOld {
                path,
                version: version.to_owned(),
            });
        }
        if self.free_threaded {
            return Err(not_supported(format!("a Python {version} without the GIL")));
        }
        Ok(())
    }
}

fn line<'a, T: Deserialize<'a>>(text: &'a str, word: &str) -> Option<T> {
    let mut lines = text.lines().filter_map(|line| line.strip_prefix(word));
    lines.find_map(|rest| serde_json::from_str(rest).ok())
}

struct Output {
    text: String,
    /// How it ended, for people.
    end: String,
}

fn run(python: &Path, library: Option<&Path>) -> Result<Output, String> {
    let mut command = Command::new(python);
    command
        .args(["-E", "-s", "-c", ASK])
        .args(library)
        .env_remove(super::FOLDER)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut child = command.spawn().map_err(|error| error.to_string())?;
    let deadline = Instant::now() + LIMIT;
    let (bytes, is_whole) = read(&mut child, deadline);
    let pid = libc::pid_t::try_from(child.id()).map_err(|error| error.to_string())?;
    let end = match probe::end(pid, deadline, !is_whole) {
        Some(status) => format!("status {status:#x}"),
        None => format!("ended after {LIMIT:?}"),
    };
    Ok(Output {
        text: String::from_utf8_lossy(&bytes).into_owned(),
        end,
    })
}

/// What it prints, and whether that is all.
fn read(child: &mut Child, deadline: Instant) -> (Vec<u8>, bool) {
    let mut output = Vec::new();
    let Some(mut pipe) = child.stdout.take() else {
        return (output, true);
    };
    let mut buffer = [0_u8; 4096];
    while output.len() < MAX_OUTPUT && probe::readable(pipe.as_raw_fd(), deadline) {
        match pipe.read(&mut buffer) {
            Ok(0) => return (output, true),
            Ok(count) => output.extend_from_slice(&buffer[..count]),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return (output, true),
        }
    }
    (output, false)
}

#[cfg(test)]
mod tests;
