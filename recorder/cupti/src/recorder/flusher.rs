//! The periodic flush: what a killed process leaves behind is at most a period old.

use std::io;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use super::{Phase, Recorder, guarded};
use crate::ffi::thread::spawn_without_signals;

/// How long the end of the process waits for a flush under way.
const STOP_LIMIT: Duration = Duration::from_secs(5);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    /// No thread, or it has ended.
    Idle,
    Running,
    Stopping,
}

#[derive(Debug)]
pub(super) struct Flusher {
    state: Mutex<State>,
    changed: Condvar,
}

impl Flusher {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State::Idle),
            changed: Condvar::new(),
        }
    }

    pub(super) fn start(
        &self,
        recorder: &'static Recorder,
        period: Duration,
        force_every: u64,
    ) -> io::Result<()> {
        self.set(State::Running);
        let thread = spawn_without_signals(move || {
            guarded(|| recorder.flush_until_stopped(period, force_every));
            recorder.flusher.set(State::Idle);
        });
        if thread.is_err() {
            self.set(State::Idle);
        }
        thread.map(drop)
    }

    /// Ends the thread and waits for a flush under way, so that nobody flushes while the process ends.
    pub(super) fn stop(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if *state == State::Idle {
            return;
        }
        *state = State::Stopping;
        self.changed.notify_all();
        // A flush that hangs must not keep the process from ending.
        drop(
            self.changed
                .wait_timeout_while(state, STOP_LIMIT, |state| *state != State::Idle),
        );
    }

    fn set(&self, new: State) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = new;
        self.changed.notify_all();
    }

    /// Waits for a period; `false` when the thread should end instead.
    fn wait(&self, period: Duration) -> bool {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let (state, _) = self
            .changed
            .wait_timeout_while(state, period, |state| *state == State::Running)
            .unwrap_or_else(PoisonError::into_inner);
        *state == State::Running
    }
}

impl Recorder {
    fn flush_until_stopped(&self, period: Duration, force_every: u64) {
        let mut tick: u64 = 0;
        while self.flusher.wait(period) {
            tick = tick.wrapping_add(1);
            let forced = force_every > 0 && tick.is_multiple_of(force_every);
            self.flush(forced);
        }
    }

    /// Nothing is flushed once another client owns the stream: the buffers are its own.
    fn flush(&self, forced: bool) {
        let Some((cupti, _)) = &self.cupti else {
            return;
        };
        if self.phase() != Phase::Collecting {
            return;
        }
        if let Err(status) = cupti.flush(forced) {
            self.cupti_error("periodic-flush", status);
        }
        self.count_drops(cupti);
    }
}
