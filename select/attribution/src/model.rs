//! What is asked and answered.

use std::collections::BTreeSet;
use std::fmt;

/// One side of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// Before the change: where removed lines stand.
    Base,
    /// After the change: where added lines stand.
    Head,
}

/// A file that is there and cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{problem}")]
pub struct Unreadable {
    /// What failed, for people.
    pub problem: String,
}

/// The files of both sides of a change. The only way in: nothing here opens a file.
pub trait Sources {
    /// The content of a file, by its path relative to the source root; `None` when that side has no such file.
    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Unreadable>;
}

/// The objects of a build, as symbol maps list them.
#[derive(Debug, Clone, Default)]
pub struct Build<'a> {
    /// The objects.
    pub objects: Vec<Object<'a>>,
    /// The kernels of all objects, by number.
    pub symbols: Vec<&'a str>,
}

/// One object of a build.
#[derive(Debug, Clone, Default)]
pub struct Object<'a> {
    /// What it was compiled from: its source and all that it includes, relative to the source root where they lie in it.
    pub files: Vec<&'a str>,
    /// Its kernels, as numbers into [`Build::symbols`].
    pub symbols: Vec<u32>,
}

/// One file of a change, by its path on each side.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ChangedFile {
    /// The path before the change; `None` for an added file.
    pub base: Option<String>,
    /// The path after the change; `None` for a deleted file.
    pub head: Option<String>,
}

impl ChangedFile {
    /// A file that keeps its path.
    pub fn modified(path: &str) -> Self {
        Self {
            base: Some(path.to_owned()),
            head: Some(path.to_owned()),
        }
    }
}

/// Which changed host code silence may clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum HostCode {
    /// Only what launches a kernel whenever it runs.
    #[default]
    Certain,
    /// Also what launches kernels on some of its ways only: a step that ran it on another way is missed.
    Reach,
}

/// Where a change was placed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Attribution {
    /// The kernels that the change can reach, as numbers into [`Build::symbols`], ascending. Never fewer than it can.
    pub kernels: Vec<u32>,
    /// `None`: the kernels are those of the changed definitions. Else all of the file's, and why.
    pub widened: Option<Widening>,
    /// Why launching none of the kernels proves nothing: changed host code may act without them. Empty when it proves
    /// that the change was not reached.
    pub doubts: BTreeSet<HostDoubt>,
    /// Files beyond the changed file's own objects that were read for this: what they said when kernels were recorded must
    /// be what they say on the base side. Sorted.
    pub consulted: Vec<String>,
    /// The changed definitions, for people, in the order of the file; the base side first.
    pub units: Vec<ChangedUnit>,
}

impl Attribution {
    /// Whether a step that launched none of the kernels may be skipped, as far as this file is concerned.
    pub fn may_drop(&self) -> bool {
        self.doubts.is_empty()
    }

    /// The stable word for what was done: `narrowed-to-changed-kernels`, or `widened:` and why.
    pub fn word(&self) -> String {
        match self.widened {
            None => "narrowed-to-changed-kernels".to_owned(),
            Some(widening) => format!("widened:{}", widening.why),
        }
    }
}

/// Why a change counts for its whole file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widening {
    /// Why.
    pub why: Why,
    /// The first line that could not be placed, from 1, and the side it stands on; `None` when it is not about a line.
    pub place: Option<(Side, u32)>,
}

macro_rules! words {
    ($(#[$outer:meta])* $name:ident { $($(#[$doc:meta])* $variant:ident = $word:literal),* $(,)? }) => {
        $(#[$outer])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum $name { $($(#[$doc])* $variant),* }

        impl $name {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$variant),*];

            /// The stable word.
            pub const fn word(self) -> &'static str {
                match self { $(Self::$variant => $word),* }
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.word())
            }
        }
    };
}

words! {
    /// Why a change counts for its whole file.
    Why {
        /// The file is no C++, CUDA or HIP source.
        NotASource = "not-a-source",
        /// One side of it cannot be read.
        UnreadableSide = "unreadable-side",
        /// It is new, gone or renamed.
        NotOnBothSides = "not-on-both-sides",
        /// It is larger than any source that people write.
        TooLarge = "too-large",
        /// Its text has constructs that compilers read differently.
        OddText = "odd-text",
        /// Its brackets or conditionals do not add up.
        UnclearStructure = "unclear-structure",
        /// Nothing that a compiler sees has changed, so nothing says what was meant to.
        NoCodeChanged = "no-code-changed",
        /// A preprocessor line other than a `#define`.
        PreprocessorLine = "preprocessor-line",
        /// A line of a namespace, a `using` or something that only moved.
        ScopeLine = "scope-line",
        /// A definition that the grammar cannot name.
        UnknownDefinition = "unknown-definition",
        /// A function that code uses without naming it.
        UnnamedUse = "unnamed-use",
        /// Code that could not be read or placed may use what changed.
        UsedByUnknownCode = "used-by-unknown-code",
        /// None of the kernels it was narrowed to is in the map.
        KernelsNotInMap = "kernels-not-in-map",
        /// It reaches no kernel at all.
        ReachesNoKernel = "reaches-no-kernel",
    }
}

words! {
    /// What changed host code may do without launching a kernel.
    HostDoubt {
        /// It launches nothing.
        LaunchesNothing = "launches-nothing",
        /// It returns a value, and somebody may act on it.
        ReturnsAValue = "returns-a-value",
        /// It can return without launching.
        MayReturnWithoutLaunching = "may-return-without-launching",
        /// It calls what is not known.
        ReachNotClosed = "reach-not-closed",
        /// It could not be placed, and may be any of these.
        Unplaced = "unplaced-host-code",
    }
}

/// A changed definition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChangedUnit {
    /// What it is, in one word: `kernel`, `device function`, ...
    pub kind: &'static str,
    /// The names that it declares; empty when it has none that is known.
    pub names: Vec<String>,
    /// Where it stands.
    pub side: Side,
    /// Its first line, from 1.
    pub line: u32,
}
