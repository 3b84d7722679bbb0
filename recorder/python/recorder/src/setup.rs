//! What a recording starts with.

use std::path::PathBuf;

/// A module that is loaded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loaded {
    /// The module's `__name__`.
    pub name: String,
    /// The module's `__file__`.
    pub file: String,
    /// None of its functions can have been entered yet: its body still runs, before the first definition.
    pub untouched: bool,
    /// Its body has been run, or is; that of a lazy module may still wait.
    pub executed: bool,
}

/// A trouble that the interpreter's side found, with its word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trouble {
    /// No id of `sys.monitoring` was free, or monitoring could not be started.
    NoToolId,
    /// Another program took the recorder's id, its events or its callback away.
    ToolTaken,
    /// A watched package was loaded before the recorder watched.
    LateStart,
    /// A module of the checkout's tests was loaded before the recorder watched.
    TestsBeforeStart,
    /// What the interpreter said could not be read.
    Unreadable,
    /// A forked child found the recorder's lock held.
    ForkWithHeldLock,
    /// A file name or qualified name that no line can hold.
    InvalidName,
    /// More functions than are kept.
    TooManyFunctions,
    /// More unwritten lines than are kept.
    QueueFull,
    /// The file could not be written.
    WriteFailed,
    /// A package turned out to reach where functions had been entered and forgotten.
    LateRoot,
    /// Code ran where the interpreter reports nothing: within the callback of a tracer or profiler.
    UnseenCode,
    /// `torch.compile` traced functions, and the recorder was not told which.
    UntracedCompilation,
    /// A panic of the recorder's own.
    Panic,
}

impl Trouble {
    /// Every trouble.
    pub const ALL: [Self; 14] = [
        Self::NoToolId,
        Self::ToolTaken,
        Self::LateStart,
        Self::TestsBeforeStart,
        Self::Unreadable,
        Self::ForkWithHeldLock,
        Self::InvalidName,
        Self::TooManyFunctions,
        Self::QueueFull,
        Self::WriteFailed,
        Self::LateRoot,
        Self::UnseenCode,
        Self::UntracedCompilation,
        Self::Panic,
    ];

    /// The stable word of an `#error` line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::NoToolId => "no_tool_id",
            Self::ToolTaken => "tool_taken",
            Self::LateStart => "late_start",
            Self::TestsBeforeStart => "tests_before_start",
            Self::Unreadable => "unreadable",
            Self::ForkWithHeldLock => "fork_with_held_lock",
            Self::InvalidName => "invalid_name",
            Self::TooManyFunctions => "too_many_functions",
            Self::QueueFull => "queue_full",
            Self::WriteFailed => "write_failed",
            Self::LateRoot => "late_root",
            Self::UnseenCode => "unseen_code",
            Self::UntracedCompilation => "untraced_compilation",
            Self::Panic => "panic",
        }
    }
}

/// What a recording starts with: where it goes, what is watched, and what its header says.
#[derive(Debug, Clone, Default)]
pub struct Setup {
    /// The machine's name.
    pub host: String,
    /// The folder of the job's recordings.
    pub folder: PathBuf,
    /// The names of the watched packages.
    pub roots: Vec<String>,
    /// The checkout whose `tests` are watched too; absolute.
    pub checkout: Option<String>,
    /// The folder of the standard library.
    pub standard_library: String,
    /// The recorder's own folder.
    pub own_folder: String,
    /// The id of `sys.monitoring` in use; empty when there is none.
    pub tool: String,
    /// The interpreter's version, `3.12.1`.
    pub version: String,
    /// The interpreter's file.
    pub executable: String,
    /// The command line, which is redacted before it is written.
    pub arguments: Vec<String>,
    /// Variables of the environment; only those of [`crate::ALLOWED`] are written.
    pub variables: Vec<(String, String)>,
    /// The names of the standard library's top-level modules.
    pub standard_names: Vec<String>,
}
