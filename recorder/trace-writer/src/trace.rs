//! A recording and its accounting.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::path::Path;

use crate::file::{CreateError, RecordingFile};
use crate::header::{Backend, Header};
use crate::line::Line;
use crate::names::{INVALID_NAME, NameHash, NameSet, is_recordable};

/// Error words are written once each; more kinds than this are only counted.
const MAX_WORDS: usize = 32;
/// Names of one batch are written in pieces of about this size, so that the queue stays small.
const QUEUE_BYTES: usize = 256 << 10;
/// Taken at the start, so that error words and the footer find room in a process that has no memory left.
const FIRST_QUEUE_BYTES: usize = 4 << 10;

/// What became of an observed name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Observed {
    /// Seen before.
    Known,
    /// Seen for the first time, and queued.
    New,
    /// Not a name that a recording can hold, or no room for it: an error word says so.
    Refused,
    /// Empty: counted as unresolved.
    Unresolved,
}

/// The numbers of a footer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Launch records processed, those without a name included.
    pub records: u64,
    /// Distinct names.
    pub unique: u64,
    /// Records the backend lost.
    pub dropped: u64,
    /// Errors of the recorder, failed writes included.
    pub errors: u64,
    /// Records without a name.
    pub unresolved: u64,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one file, each set once"
)]
/// The recording of one process. Lines are queued and written by [`Trace::flush`].
pub struct Trace {
    file: RecordingFile,
    backend: Backend,
    names: NameSet,
    totals: Totals,
    queue: Vec<u8>,
    words: Vec<&'static str>,
    /// Something stands in the file that no idle process's recording holds.
    disproves_idle: bool,
    failure_noted: bool,
    finished: bool,
    /// Emptied after a failed write: nothing may follow.
    sealed: bool,
}

impl Trace {
    /// Starts a recording in `folder` under a new name and writes its header.
    ///
    /// When even the header does not fit, the empty file is left: it shows that a process was here and
    /// could not be recorded.
    pub fn create(folder: &Path, header: &Header<'_>) -> Result<Self, CreateError> {
        let mut file = RecordingFile::create(folder, |nonce| {
            format!("kern.{}.{nonce:016x}.txt", std::process::id())
        })?;
        if file.append(header.line().as_bytes()).is_err() {
            file.empty();
            return Err(CreateError {
                path: file.path().to_owned(),
                source: std::io::ErrorKind::WriteZero.into(),
            });
        }
        let mut trace = Self {
            file,
            backend: header.backend,
            names: NameSet::default(),
            totals: Totals::default(),
            queue: Vec::with_capacity(FIRST_QUEUE_BYTES),
            words: Vec::with_capacity(MAX_WORDS + 1),
            disproves_idle: false,
            failure_noted: false,
            finished: false,
            sealed: false,
        };
        // A forked child's is never idle.
        if trace.backend.has_idle_rule() && !header.forked && !trace.file.keep_in_reach() {
            // A line that readers do not know: nothing is idle beside it.
            trace.comment("note never idle: this file could not be marked once its path is gone");
        }
        Ok(trace)
    }

    /// Where the recording is.
    pub fn path(&self) -> &Path {
        self.file.path()
    }

    /// The counts so far.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// Queues `# text`. Control bytes become `?`.
    ///
    /// For lines that the format gives a meaning (`sdk_version=…`) and for facts that help a person.
    pub fn comment(&mut self, text: &str) {
        let line = if text.contains(char::is_control) {
            Cow::Owned(text.replace(char::is_control, "?"))
        } else {
            Cow::Borrowed(text)
        };
        self.queue_line(&[b"# ", line.as_bytes()]);
    }

    /// Writes `# gpu_active` at once and says whether it is in the file. On `false` the recording has
    /// been emptied, since it could have passed as that of a process that never used the GPU.
    #[must_use]
    pub fn gpu_active(&mut self) -> bool {
        self.comment("gpu_active");
        self.flush();
        self.queue.is_empty() && !self.sealed
    }

    /// Counts a launch of the kernel `name`, and queues the name when it is new.
    #[inline]
    pub fn observe(&mut self, name: &[u8]) -> Observed {
        self.totals.records += 1;
        if name.is_empty() {
            self.totals.unresolved += 1;
            return Observed::Unresolved;
        }
        match self.names.look_up(name) {
            Ok(()) => Observed::Known,
            Err(hash) => self.observe_new(hash, name),
        }
    }

    #[cold]
    fn observe_new(&mut self, hash: NameHash, name: &[u8]) -> Observed {
        if !is_recordable(name) {
            self.error(INVALID_NAME);
            return Observed::Refused;
        }
        if let Err(error) = self.names.add(hash, name) {
            self.error(error.word());
            return Observed::Refused;
        }
        self.totals.unique = self.names.len() as u64;
        self.queue_line(&[name]);
        if self.queue.len() > QUEUE_BYTES {
            self.flush();
        }
        Observed::New
    }

    /// Counts a launch of a kernel that the caller knows to have been observed before.
    #[inline]
    pub fn observe_known(&mut self) {
        self.totals.records += 1;
    }

    /// Counts launches of which the caller knows that their kernels were observed before, and launches
    /// of kernels whose names never came.
    pub fn count(&mut self, known: u64, unresolved: u64) {
        let records = known.saturating_add(unresolved);
        self.totals.records = self.totals.records.saturating_add(records);
        self.totals.unresolved = self.totals.unresolved.saturating_add(unresolved);
    }

    /// Counts a launch of a kernel whose name is not known.
    pub fn observe_unresolved(&mut self) {
        self.totals.records += 1;
        self.totals.unresolved += 1;
    }

    /// Counts records that the backend lost since the last call.
    pub fn dropped(&mut self, records: u64) {
        if records == 0 {
            return;
        }
        self.totals.dropped = self.totals.dropped.saturating_add(records);
        let mut line = Line::default();
        let _ = write!(line, "# dropped={records}");
        self.queue_line(&[line.bytes()]);
    }

    /// Counts an error as [`Trace::error`] does, and writes the status of the call that failed, for people.
    pub fn failure(&mut self, word: &'static str, status: i32) {
        let mut line = Line::default();
        let _ = write!(line, "# status {word}={status}");
        self.queue_line(&[line.bytes()]);
        self.error(word);
    }

    /// Counts an error. Its word is written the first time; from then on the recording is not clean.
    pub fn error(&mut self, word: &'static str) {
        self.totals.errors = self.totals.errors.saturating_add(1);
        if self.words.contains(&word) || self.words.len() >= MAX_WORDS {
            return;
        }
        self.words.push(word);
        self.queue_line(&[b"# error=", word.as_bytes()]);
    }

    /// Writes what is queued. What cannot be written stays queued and is tried again.
    pub fn flush(&mut self) {
        if self.queue.is_empty() || self.sealed {
            return;
        }
        let kept = match self.file.append(&self.queue) {
            Ok(()) => self.queue.len(),
            Err(error) => error.kept,
        };
        if !self.disproves_idle && disproves_idle(&self.queue[..kept]) {
            self.disproves_idle = true;
            self.file.let_go();
        }
        self.queue.drain(..kept);
        if !self.queue.is_empty() {
            self.write_failed();
        }
    }

    /// Writes the footer. What is observed afterwards is written too, with an error word: the footer
    /// came too early and must not be believed.
    pub fn finish(&mut self) {
        if self.finished {
            return;
        }
        let Totals {
            records,
            unique,
            dropped,
            errors,
            unresolved,
        } = self.totals;
        let mut footer = Line::default();
        let _ = write!(
            footer,
            "# end records={records} unique={unique} dropped={dropped} errors={errors} unresolved={unresolved}"
        );
        self.queue_line(&[footer.bytes()]);
        self.flush();
        self.finished = true;
    }

    /// A recording that could still pass as idle is emptied; any other gets an error word if there is
    /// room for it.
    fn write_failed(&mut self) {
        self.totals.errors = self.totals.errors.saturating_add(1);
        if self.backend.has_idle_rule() && !self.disproves_idle {
            self.file.empty();
            self.queue.clear();
            self.sealed = true;
            return;
        }
        if !self.failure_noted {
            // On its own and before the names: it is shorter than most of them.
            self.failure_noted = self.file.append(b"# error=write-failed\n").is_ok();
        }
    }

    fn queue_line(&mut self, parts: &[&[u8]]) {
        if self.finished && !self.words.contains(&"activity-after-end") {
            self.words.push("activity-after-end");
            self.totals.errors = self.totals.errors.saturating_add(1);
            self.queue
                .extend_from_slice(b"# error=activity-after-end\n");
        }
        let len: usize = parts.iter().map(|part| part.len()).sum();
        if self.queue.try_reserve(len + 1).is_err() {
            // The word itself could not be queued either: the footer's count has to say it.
            self.totals.errors = self.totals.errors.saturating_add(1);
            return;
        }
        for part in parts {
            self.queue.extend_from_slice(part);
        }
        self.queue.push(b'\n');
    }
}

/// Whether lines hold more than what an idle ROCm process writes: its header and metadata.
fn disproves_idle(lines: &[u8]) -> bool {
    lines.split(|byte| *byte == b'\n').any(|line| {
        let metadata = line.is_empty() || line.starts_with(b"#");
        !metadata
            || [&b"# error"[..], b"# dropped=", b"# gpu_active", b"# end "]
                .iter()
                .any(|start| line.starts_with(start))
    })
}
