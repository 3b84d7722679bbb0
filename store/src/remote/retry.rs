//! When to try again, and how long to wait before.

use reqwest::header::{HeaderMap, RETRY_AFTER};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// How often and how patiently a request is tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retry {
    /// Tries in all.
    pub(super) tries: u32,
    /// The wait before the second try; each further one doubles it.
    pub(super) first_wait: Duration,
    /// No wait is longer, whatever a server asks for.
    pub(super) longest_wait: Duration,
}

impl Retry {
    /// So many tries after the first.
    pub(super) fn times(retries: u32) -> Self {
        Self {
            tries: retries.saturating_add(1),
            first_wait: Duration::from_millis(200),
            longest_wait: Duration::from_secs(20),
        }
    }

    pub(super) fn start(self) -> Tries {
        Tries {
            retry: self,
            made: 1,
        }
    }
}

/// The tries of one request.
#[derive(Debug)]
pub(super) struct Tries {
    retry: Retry,
    made: u32,
}

impl Tries {
    /// The wait before the next try; `None` when there is none left.
    pub(super) fn next(&mut self, asked: Option<Duration>) -> Option<Duration> {
        if self.made >= self.retry.tries {
            return None;
        }
        let doubled = self
            .retry
            .first_wait
            .saturating_mul(1 << (self.made - 1).min(16));
        self.made += 1;
        let wait = asked.unwrap_or_else(|| jittered(doubled));
        Some(wait.min(self.retry.longest_wait))
    }
}

/// Between half and the whole of the wait, so that jobs that failed together do not return together.
pub(super) fn jittered(wait: Duration) -> Duration {
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .unwrap_or_default();
    let share = f64::from(now.subsec_nanos() % 1000) / 1000.0;
    wait.mul_f64(0.5 + share / 2.0)
}

/// `Retry-After` in seconds; the form with a date is not worth a parser for waits this short.
pub(super) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let seconds = headers
        .get(RETRY_AFTER)?
        .to_str()
        .ok()?
        .trim()
        .parse()
        .ok()?;
    Some(Duration::from_secs(seconds))
}
