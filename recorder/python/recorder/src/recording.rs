//! The recording of one process and its accounting.

use crate::files::{ModuleFacts, Part, Place, classify, is_generated};
use crate::header::{Birth, now, short_host, start_line};
use crate::line::is_plain;
use crate::roots::{Found, Roots};
use crate::setup::{Loaded, Setup, Trouble};
use kernrec_trace_writer::RecordingFile;
use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

/// Every how many functions the counters are written.
const STAT_EVERY: u64 = 500;
/// The qualified name of a module's body.
const MODULE: &str = "<module>";
/// Far above any real program; keeps a runaway one from eating the host's memory.
const MAX_FUNCTIONS: usize = 1 << 20;
/// Lines that a full disk keeps from being written.
const MAX_QUEUE_BYTES: usize = 16 << 20;

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
/// The recording of one process. Nothing is written before a watched package is met: until then what is
/// entered waits in memory.
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
    /// A watched package was met.
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

    /// A module whose body was run and not reported ran where nothing is; so may have its functions.
    fn look_for_unseen(&mut self, modules: &[Loaded]) {
        for module in modules.iter().filter(|module| module.executed) {
            let place = self.place_of(module);
            let source = Path::new(&module.file).extension() == Some("py".as_ref());
            let Some(path) = place.watched().filter(|_| source) else {
                continue;
            };
            if self.bodies.contains(path) {
                continue;
            }
            self.trouble(Trouble::UnseenCode);
            if !self.files.contains_key(module.file.as_str()) {
                self.meet(&module.file, ModuleFacts::default(), &[]);
            }
            self.entered(&module.file, MODULE, 1);
        }
    }

    fn place_of(&self, module: &Loaded) -> Place {
        let facts = ModuleFacts {
            name: Some(module.name.clone()),
            file: None,
        };
        classify(&module.file, &facts, &self.roots, &self.setup)
    }

    fn note_library(&mut self, place: &Place) {
        if let Place::Library(name) = place
            && is_plain(name)
            && self.packages.insert(name.clone())
        {
            let line = format!("#pkg\t{name}\n");
            self.queue_line(&line);
        }
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

    /// Remembers a function of a file that is not watched, as long as a watched package may still be found
    /// where it is. Generated code and the standard library are in no package.
    fn keep(&mut self, file: &str, id: u32, qualname: &str, line: u32) {
        let place = self.files.get(file).map(|file| &file.place);
        let is_standard = file.starts_with(&self.setup.standard_library);
        if self.forgot || (matches!(place, Some(Place::Other)) && is_standard) {
            return;
        }
        if self.kept_len >= MAX_FUNCTIONS {
            self.forget();
            return self.trouble(Trouble::TooManyFunctions);
        }
        self.kept_len += 1;
        self.kept
            .entry(id)
            .or_default()
            .push((qualname.into(), line));
    }

    fn forget(&mut self) {
        self.forgot = true;
        self.kept = Kept::new();
        self.kept_len = 0;
    }

    fn take_roots(&mut self, found: &[Found]) {
        let new = self.roots.update(found);
        if new.is_empty() {
            return;
        }
        if !new.iter().all(|place| is_writable(place)) {
            // No line can name it, and none of its functions.
            self.trouble(Trouble::InvalidName);
        }
        if self.file.is_some() {
            for place in new.iter().filter(|place| is_writable(place)) {
                let line = place_line("#root", place, true);
                self.queue_line(&line);
            }
        }
        self.met = true;
        self.classify_again();
        if self.roots.all_found() && !self.forgot {
            self.forget();
        }
        self.flush_or_create();
    }

    /// Files that were met before their package was, get their place, and what was entered of them is noted.
    fn classify_again(&mut self) {
        let mut moved = Vec::new();
        for (name, file) in &mut self.files {
            if file.place.watched().is_some() {
                continue;
            }
            let place = classify(name, &file.facts, &self.roots, &self.setup);
            if let Some(path) = place.watched() {
                let is_root = matches!(place, Place::Root(_));
                moved.push((file.id, path.to_owned(), is_root));
                file.place = place;
            }
        }
        moved.sort_unstable();
        if self.forgot && !moved.is_empty() {
            self.trouble(Trouble::LateRoot);
        }
        for (id, path, is_root) in moved {
            for (qualname, line) in self.kept.remove(&id).unwrap_or_default() {
                self.note(id, &path, is_root, &qualname, line);
            }
        }
    }

    fn counter_line(&self, tag: &str) -> String {
        let Counters {
            root,
            tests,
            other,
            errors,
            last_error,
        } = &self.counters;
        let last_error = last_error.map_or("", Trouble::word);
        format!(
            "{tag}\troot={root}\ttests={tests}\tother={other}\terrors={errors}\tlast_error={last_error}\tt={}\n",
            now()
        )
    }

    fn queue_line(&mut self, line: &str) {
        if self.queue.len() + line.len() > MAX_QUEUE_BYTES {
            // The counters then say more than there are lines.
            self.counters.errors = self.counters.errors.saturating_add(1);
            self.counters.last_error = Some(Trouble::QueueFull);
            return;
        }
        self.queue.push_str(line);
    }

    fn flush_or_create(&mut self) {
        if self.file.is_none() && self.met {
            self.create();
        }
        self.flush();
    }

    /// Writes what is queued. What cannot be written stays queued and is tried again.
    fn flush(&mut self) {
        if !self.met || self.queue.is_empty() {
            return;
        }
        if self.file.is_none() {
            self.create();
        }
        let Some(file) = &mut self.file else { return };
        let kept = match file.append(self.queue.as_bytes()) {
            Ok(()) => self.queue.len(),
            Err(error) => error.kept,
        };
        self.queue.drain(..kept);
        if !self.queue.is_empty() && !self.failure_noted {
            // On its own and before the lines: it is shorter than most of them.
            self.failure_noted = file.append(failure_line().as_bytes()).is_ok();
            self.counters.errors = self.counters.errors.saturating_add(1);
            self.counters.last_error = Some(Trouble::WriteFailed);
        }
    }

    /// Makes the file with its header and places. Where that fails, it is tried again with the next line; the
    /// file that a full disk leaves empty shows that a process was here and could not be recorded.
    fn create(&mut self) {
        let host = short_host(&self.setup.host);
        let nonce = RefCell::new(String::new());
        let pid = std::process::id();
        let made = RecordingFile::create(&self.setup.folder, |random| {
            let text = format!("{:08x}", random & 0xffff_ffff);
            let name = format!("fn.{host}.{text}.{pid}.txt");
            *nonce.borrow_mut() = text;
            name
        });
        let Ok(mut file) = made else {
            self.counters.errors = self.counters.errors.saturating_add(1);
            self.counters.last_error = Some(Trouble::WriteFailed);
            return;
        };
        let birth = Birth {
            host: &host,
            nonce: &nonce.borrow(),
            forked_from: self.forked_from,
            root: self.roots.places().next().unwrap_or_default(),
        };
        let mut lines = start_line(&self.setup, &birth);
        for place in self.roots.places().filter(|place| is_writable(place)) {
            lines.push_str(&place_line("#root", place, true));
        }
        if let Some(tests) = self.roots.tests().filter(|place| is_writable(place)) {
            lines.push_str(&place_line("#tests", tests, false));
        }
        if file.append(lines.as_bytes()).is_err() {
            // A header alone would pass for a process that entered nothing.
            file.empty();
            self.counters.errors = self.counters.errors.saturating_add(1);
            self.counters.last_error = Some(Trouble::WriteFailed);
            return;
        }
        self.file = Some(file);
    }
}

/// Whether text reads back as itself, and is what the interpreter said.
fn is_writable(text: &str) -> bool {
    is_plain(text) && !text.is_empty() && !text.starts_with('#') && !text.contains('\u{fffd}')
}

fn failure_line() -> String {
    format!("#error\t{}\n", Trouble::WriteFailed.word())
}

fn place_line(tag: &str, place: &str, with_time: bool) -> String {
    if with_time {
        format!("{tag}\t{place}\tt={}\n", now())
    } else {
        format!("{tag}\t{place}\n")
    }
}
