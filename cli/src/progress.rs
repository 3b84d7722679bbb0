//! Progress bars: on a terminal only, and never in CI, whose logs keep every redraw.

use crate::environment;
use crate::error::CommandError;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use kernrec_fetch::{Object, Reporter, Silent};
use std::io::{self, IsTerminal};
use std::sync::{Mutex, PoisonError};

/// Bars if anybody can see them.
pub(crate) fn reporter() -> Result<Box<dyn Reporter>, CommandError> {
    let in_ci = environment::CI.read()?.as_deref() == Some("true");
    if in_ci || !io::stderr().is_terminal() {
        return Ok(Box::new(Silent));
    }
    Ok(Box::new(Bars::default()))
}

/// One bar per download.
#[derive(Default)]
struct Bars {
    all: MultiProgress,
    bars: Mutex<Vec<ProgressBar>>,
}

impl Bars {
    fn with(&self, id: usize, act: impl FnOnce(&ProgressBar)) {
        let bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bar) = bars.get(id) {
            act(bar);
        }
    }
}

impl Reporter for Bars {
    fn on_start(&self, object: Object<'_>) -> usize {
        let template = "{prefix} {bytes} received, {bytes_per_sec}";
        // The total is not known: the size in the manifest is that of the uncompressed content.
        let bar = self.all.add(ProgressBar::no_length());
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_prefix(format!("{} {}", object.backend, object.role));
        let mut bars = self.bars.lock().unwrap_or_else(PoisonError::into_inner);
        bars.push(bar);
        bars.len() - 1
    }

    fn on_progress(&self, id: usize, received: u64) {
        self.with(id, |bar| bar.set_position(received));
    }

    fn on_complete(&self, id: usize, _whole: bool) {
        self.with(id, ProgressBar::finish_and_clear);
    }
}
