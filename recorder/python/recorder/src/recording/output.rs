//! Lines on their way to the file.

use super::{Counters, Recording};
use crate::header::{Birth, now, short_host, start_line};
use crate::line::is_writable;
use crate::setup::Trouble;
use kernrec_trace_writer::RecordingFile;
use std::cell::RefCell;

/// Lines that a full disk keeps from being written.
const MAX_QUEUE_BYTES: usize = 16 << 20;

impl Recording {
    pub(super) fn queue_line(&mut self, line: &str) {
        if self.queue.len() + line.len() > MAX_QUEUE_BYTES {
            // The counters then say more than there are lines.
            self.counters.errors = self.counters.errors.saturating_add(1);
            self.counters.last_error = Some(Trouble::QueueFull);
            return;
        }
        self.queue.push_str(line);
    }

    pub(super) fn counter_line(&self, tag: &str) -> String {
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

    pub(super) fn flush_or_create(&mut self) {
        if self.file.is_none() && self.met {
            self.create();
        }
        self.flush();
    }

    /// Writes what is queued. What cannot be written stays queued and is tried again.
    pub(super) fn flush(&mut self) {
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

    /// Makes the file, and queues its header and places before everything else. Where that fails, it is tried
    /// again with the next line. A file that a full disk leaves empty shows that a process was here and could not
    /// be recorded.
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
        let Ok(file) = made else {
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
        self.queue.insert_str(0, &lines);
        self.file = Some(file);
    }
}

fn failure_line() -> String {
    format!("#error\t{}\n", Trouble::WriteFailed.word())
}

pub(super) fn place_line(tag: &str, place: &str, with_time: bool) -> String {
    if with_time {
        format!("{tag}\t{place}\tt={}\n", now())
    } else {
        format!("{tag}\t{place}\n")
    }
}
