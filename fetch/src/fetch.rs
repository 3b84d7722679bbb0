//! The whole of one run: every backend on its own, one lock for all.

use crate::backend::{self, Job, Remote};
use crate::error::FetchError;
use crate::local::{FolderLock, Layout, expected, prune};
use crate::options::{Backends, FetchOptions, Source};
use crate::report::{BackendReport, FetchReport, Status};
use crate::reporter::Reporter;
use kernrec_schemas::exit::Exit;
use kernrec_store::Store;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// Brings the chosen record of each backend into the local folder.
///
/// Never fails as a whole: each backend's report says how it ended and what is in place now. Whatever goes
/// wrong, and whenever the process is killed, a pair that was in place is there whole, or its successor is.
pub fn fetch(source: Source<'_>, options: &FetchOptions, reporter: &dyn Reporter) -> FetchReport {
    let layout = Layout::new(&options.out);
    let lock = FolderLock::new(&layout, options.lock_wait);
    let remote = match source {
        Source::Store(store) => Some(remote(store, options)),
        Source::Unopened { .. } | Source::Offline => None,
    };
    let one = |backend| {
        let job = Job {
            backend,
            options,
            layout: &layout,
            lock: &lock,
            reporter,
        };
        let named = options.backends != Backends::All;
        if named {
            // Before anything can go wrong.
            expected::note(&layout, backend);
        }
        let report = match (source, &remote) {
            (Source::Store(_), Some(remote)) => backend::online(&job, remote),
            (Source::Unopened { error, .. }, _) => job.nothing_done(&FetchError::open(error)),
            (Source::Offline | Source::Store(_), _) => backend::offline(&job),
        };
        if !named {
            match report.status {
                Status::NotPublished => expected::forget(&layout, backend),
                Status::NotInstalled => {}
                _ => expected::note(&layout, backend),
            }
        }
        report
    };
    let backends = options.backends.list();
    let reports: Vec<BackendReport> = match backends.as_slice() {
        [only] => vec![one(*only)],
        several => thread::scope(|scope| {
            let one = &one;
            let start = |&backend| scope.spawn(move || one(backend));
            let running: Vec<_> = several.iter().map(start).collect();
            let wait = |run: ScopedJoinHandle<'_, _>| run.join();
            let end =
                |result: thread::Result<_>| result.unwrap_or_else(|panic| resume_unwind(panic));
            running.into_iter().map(wait).map(end).collect()
        }),
    };
    // Only now: a record that another backend's thread is about to link must not look abandoned.
    if lock.is_held() {
        prune::abandoned_records(&layout);
    }
    FetchReport {
        url: match source {
            Source::Store(store) => Some(store.url().to_owned()),
            Source::Unopened { url, .. } => Some(url.to_owned()),
            Source::Offline => None,
        },
        out: options.out.clone(),
        exit: exit(&options.backends, &reports),
        backends: reports,
    }
}

fn remote<'a>(store: &'a dyn Store, options: &'a FetchOptions) -> Remote<'a> {
    Remote::new(store, &options.pipeline)
        .laid_out(options.layout)
        .requiring(&options.require_keys)
}

/// The worst end of all; with [`Backends::All`] a backend that never was counts only if none ever was.
fn exit(asked: &Backends, reports: &[BackendReport]) -> Exit {
    let exists = |report: &BackendReport| {
        !matches!(report.status, Status::NotPublished | Status::NotInstalled)
    };
    let tolerant = *asked == Backends::All && reports.iter().any(exists);
    reports
        .iter()
        .filter(|report| !tolerant || exists(report))
        .map(|report| report.status.exit())
        .fold(Exit::Done, Exit::worst)
}
