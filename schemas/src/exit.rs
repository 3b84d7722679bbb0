//! Exit statuses of every program: one table, used by the binaries and printed in the docs.

/// How a program ended. Where several apply, the worst wins; [`Exit::worst`] knows the order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Exit {
    /// Done, or already current.
    Done,
    /// Failed; nothing was changed.
    Failed,
    /// The command line is wrong; nothing was tried.
    Usage,
    /// Refused by a gate, or nothing has been published yet.
    Refused,
    /// A newer publish won the race.
    Superseded,
    /// The answer was lost and the read-back cannot tell; nothing was deleted.
    Unknown,
    /// Everything must run (`select` only): nothing is printed on stdout.
    RunEverything,
}

impl Exit {
    /// Every status, worst first, as the documentation lists them.
    pub const ALL: [Self; 7] = [
        Self::Unknown,
        Self::Failed,
        Self::Refused,
        Self::Superseded,
        Self::Done,
        Self::Usage,
        Self::RunEverything,
    ];

    /// The process exit status.
    pub const fn code(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Failed => 1,
            Self::Usage => 2,
            Self::Refused => 3,
            Self::Superseded => 4,
            Self::Unknown => 5,
            Self::RunEverything => 6,
        }
    }

    /// The worse of the ends of two independent pieces of work.
    #[must_use]
    pub fn worst(self, other: Self) -> Self {
        if other.severity() > self.severity() {
            other
        } else {
            self
        }
    }

    /// Not the order of the numbers: an unknown outcome needs a person, a refusal is a healthy gate.
    const fn severity(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::RunEverything => 1,
            Self::Superseded => 2,
            Self::Refused => 3,
            Self::Usage => 4,
            Self::Failed => 5,
            Self::Unknown => 6,
        }
    }

    /// One line for the documentation.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Done => "done, or already current",
            Self::Failed => "failed, nothing changed",
            Self::Usage => "the command line is wrong, nothing was tried",
            Self::Refused => "refused by a gate, or nothing published yet",
            Self::Superseded => "superseded by a newer publish",
            Self::Unknown => "outcome unknown: the answer was lost, nothing was deleted",
            Self::RunEverything => "everything must run (`select`; nothing on stdout)",
        }
    }
}
