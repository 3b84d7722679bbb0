//! The recording of one process and its accounting.

mod output;
mod places;

use crate::files::{ModuleFacts, Part, Place, classify, is_generated};
use crate::line::is_writable;
use crate::roots::{Found, Roots};
use crate::setup::{Loaded, Setup, Trouble};
use kernrec_trace_writer::RecordingFile;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// Every how many functions the counters are written.
const STAT_EVERY: u64 = 500;
/// The qualified name of a module's body.
const MODULE: &str = "<module>";
/// Far above any real program; keeps a runaway one from eating the host's memory.
const MAX_FUNCTIONS: usize = 1 << 20;

/// What became of an entered function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entered {
    /// It is taken care of.
    Noted,
    /// Nothing is known of its file yet: [`Recording::meet`] has to be told, and then this again.
    UnknownFile,
    /// The function takes a code object, in its argument `code`, that will run without being entered. It counts
    /// as entered, and the next call has to be reported too.
    TakesCode,
}

struct File {
    place: Place,
    part: Option<Part>,
    id: u32,
    facts: ModuleFacts,
}

/// What was entered of a file that is not watched, in case it turns out to be.
type Kept = HashMap<u32, Vec<(Box<str>, u32)>>;

#[derive(Debug, Default)]
struct Counters {
    root: u64,
    tests: u64,
    other: u64,
    errors: u64,
    last_error: Option<Trouble>,
}

#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts of one recording, each set once"
)]
/// The recording of one process. Nothing is written before a watched package is met or a test of the checkout is
/// entered: until then what is entered waits in memory.
pub struct Recording {
    setup: Arc<Setup>,
    roots: Roots,
    files: HashMap<Box<str>, File>,
    seen: HashSet<(u32, u32, Box<str>)>,
    /// Watched files whose modules' bodies were entered.
    bodies: HashSet<Box<str>>,
    kept: Kept,
    kept_len: usize,
    packages: BTreeSet<String>,
    counters: Counters,
    words: Vec<Trouble>,
    queue: String,
    file: Option<RecordingFile>,
    forked_from: Option<u32>,
    /// A watched package was met, or a test of the checkout entered.
    met: bool,
    /// What was entered of other files is no longer complete.
    forgot: bool,
    /// The counters of a clean exit are written.
    ended: bool,
    /// The word of a failed write is in the file.
    failure_noted: bool,
    /// What `torch.compile` traces is reported.
    takes_code: bool,
}

impl Recording {
    /// Starts one, in memory.
    pub fn new(setup: Arc<Setup>) -> Self {
        Self {
            roots: Roots::new(setup.roots.len(), setup.checkout.as_deref()),
            setup,
            files: HashMap::new(),
            seen: HashSet::new(),
            bodies: HashSet::new(),
            kept: Kept::new(),
            kept_len: 0,
            packages: BTreeSet::new(),
            counters: Counters::default(),
            words: Vec::new(),
            queue: String::new(),
            file: None,
            forked_from: None,
            met: false,
            forgot: false,
            ended: false,
            failure_noted: false,
            takes_code: false,
        }
    }

    /// Says which modules were loaded before anything was watched. A watched package among them, or a module
    /// of the tests that had time to run, makes the recording one that says so.
    pub fn loaded_before(&mut self, modules: &[Loaded], found: &[Found]) {
        if found.iter().any(|package| !package.places.is_empty()) {
            self.trouble(Trouble::LateStart);
        }
        self.take_roots(found);
        let late = modules
            .iter()
            .any(|module| !module.untouched && matches!(self.place_of(module), Place::Tests(_)));
        if late {
            self.trouble(Trouble::TestsBeforeStart);
        }
        self.loaded(modules);
    }

    /// Notes the libraries that are loaded. Those of compiled code, or loaded before anything was watched, are
    /// entered without a word.
    pub fn loaded(&mut self, modules: &[Loaded]) {
        for module in modules {
            let place = self.place_of(module);
            self.note_library(&place);
        }
        self.flush();
    }

    /// Notes that a code object was entered.
    pub fn entered(&mut self, file: &str, qualname: &str, line: u32) -> Entered {
        if is_generated(file) {
            // A program may make any number of them.
            self.counters.other = self.counters.other.saturating_add(1);
            return Entered::Noted;
        }
        let Some(known) = self.files.get(file) else {
            return Entered::UnknownFile;
        };
        let id = known.id;
        match &known.place {
            Place::Root(path) | Place::Tests(path) => {
                let path = path.clone();
                let is_root = matches!(known.place, Place::Root(_));
                self.note(id, &path, is_root, qualname, line);
                self.flush();
            }
            Place::Library(_) | Place::Other => {
                self.counters.other = self.counters.other.saturating_add(1);
                let part = known.part.filter(|part| part.is_played_by(qualname));
                self.keep(file, id, qualname, line);
                match part {
                    Some(Part::Takes) => {
                        self.takes_code = true;
                        return Entered::TakesCode;
                    }
                    Some(Part::Traces) if !self.takes_code => {
                        self.trouble(Trouble::UntracedCompilation);
                        self.flush();
                    }
                    Some(Part::Traces) | None => {}
                }
            }
        }
        Entered::Noted
    }

    /// Takes what the interpreter says of a file's module and of the watched packages.
    pub fn meet(&mut self, file: &str, facts: ModuleFacts, found: &[Found]) {
        self.take_roots(found);
        let place = classify(file, &facts, &self.roots, &self.setup);
        self.note_library(&place);
        if self.files.len() >= MAX_FUNCTIONS {
            return self.trouble(Trouble::TooManyFunctions);
        }
        let id = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        let part = Part::of(file);
        let known = File {
            place,
            part,
            id,
            facts,
        };
        self.files.insert(file.into(), known);
        self.flush();
    }

    /// Notes a trouble. Its word is written once; it is counted each time.
    pub fn trouble(&mut self, trouble: Trouble) {
        self.counters.errors = self.counters.errors.saturating_add(1);
        self.counters.last_error = Some(trouble);
        if self.words.contains(&trouble) {
            return;
        }
        self.words.push(trouble);
        let line = format!("#error\t{}\n", trouble.word());
        self.queue_line(&line);
    }

    /// Writes what there is although no watched package has been met: a trouble that keeps the recorder from
    /// ever meeting one must not be silent.
    pub fn write_now(&mut self) {
        self.met = true;
        self.flush();
    }

    /// Writes the counters of a clean exit, once. What the interpreter's teardown enters comes after them.
    pub fn finish(&mut self, modules: &[Loaded]) {
        if !self.ended && self.met {
            self.loaded(modules);
            self.look_for_unseen(modules);
        }
        let nothing_written =
            self.forked_from.is_some() && self.file.is_none() && self.queue.is_empty();
        if self.ended || !self.met || nothing_written {
            return;
        }
        let line = self.counter_line("#end");
        self.queue_line(&line);
        self.flush();
        self.ended = true;
    }

    /// Goes on in a forked child: in a file of its own, which is made when there is something to write.
    /// What its parent wrote stays the parent's; what waits for a package to be met was entered here too.
    pub(crate) fn become_child(&mut self, parent: u32) {
        self.forked_from = Some(parent);
        self.file = None;
        self.ended = false;
        self.failure_noted = false;
        if self.met {
            self.queue.clear();
            self.counters = Counters::default();
            self.words.clear();
        }
    }

    fn note(&mut self, id: u32, path: &str, is_root: bool, qualname: &str, line: u32) {
        if self.seen.len() >= MAX_FUNCTIONS {
            return self.trouble(Trouble::TooManyFunctions);
        }
        if !self.seen.insert((id, line, qualname.into())) {
            return;
        }
        // A process that runs tests and never imports a watched package would else be silent about them.
        self.met |= !is_root;
        if qualname == MODULE {
            self.bodies.insert(path.into());
        }
        if !is_writable(path) || !is_writable(qualname) {
            return self.trouble(Trouble::InvalidName);
        }
        let counter = if is_root {
            &mut self.counters.root
        } else {
            &mut self.counters.tests
        };
        *counter = counter.saturating_add(1);
        let text = format!("{path}\t{qualname}\t{line}\n");
        self.queue_line(&text);
        if (self.counters.root + self.counters.tests).is_multiple_of(STAT_EVERY) {
            let stat = self.counter_line("#stat");
            self.queue_line(&stat);
        }
    }
}
