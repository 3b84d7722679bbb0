//! `# kernrec v1 backend=cuda recorder=cupti pid=310 ppid=301 exe=/opt/py/bin/python`

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;

/// What every header starts with.
pub(crate) const MAGIC: &str = "# kernrec v1 ";

/// What launches the kernels; decides the names in the header and whether an unfinished recording may
/// be read as that of an idle process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Backend {
    /// NVIDIA, recorded through CUPTI.
    Cuda,
    /// AMD, recorded through the `ROCProfiler` SDK. Its readers accept an unfinished recording without
    /// names as idle.
    Rocm,
}

impl Backend {
    fn names(self) -> (&'static str, &'static str) {
        match self {
            Self::Cuda => ("cuda", "cupti"),
            Self::Rocm => ("rocm", "rocprofiler-sdk"),
        }
    }

    pub(crate) fn has_idle_rule(self) -> bool {
        match self {
            Self::Cuda => false,
            Self::Rocm => true,
        }
    }
}

/// The first line of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Header<'a> {
    /// Whose kernels.
    pub backend: Backend,
    /// Written by a child forked after its parent's recorder started: the line says so and names no
    /// program.
    pub forked: bool,
    /// Further fields, as `key=value`. Keys must differ from each other and from the standard ones.
    pub fields: &'a [(&'a str, &'a str)],
}

impl Header<'_> {
    /// The line with its end.
    pub(crate) fn line(&self) -> String {
        let (backend, recorder) = self.backend.names();
        let mut line = format!(
            "{MAGIC}backend={backend} recorder={recorder} pid={} ppid={}",
            std::process::id(),
            std::os::unix::process::parent_id(),
        );
        for (key, value) in self.fields {
            line.push_str(&format_field(key, value.as_bytes()));
        }
        if self.forked {
            line.push_str(" forked=1");
        } else if let Ok(exe) = std::env::current_exe() {
            line.push_str(&format_field("exe", exe.as_os_str().as_bytes()));
        }
        line.push('\n');
        line
    }
}

/// ` key=value`. White space and control bytes would end the field or the line, so they are written as
/// `%20`.
fn format_field(key: &str, value: &[u8]) -> String {
    let mut field = format!(" {key}=");
    for chunk in value.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_whitespace() || c.is_control() {
                let mut bytes = [0; 4];
                for byte in c.encode_utf8(&mut bytes).bytes() {
                    // Writing to a string cannot fail.
                    let _ = write!(field, "%{byte:02X}");
                }
            } else {
                field.push(c);
            }
        }
        for byte in chunk.invalid() {
            let _ = write!(field, "%{byte:02X}");
        }
    }
    field
}
