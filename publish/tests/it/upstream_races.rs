//! Publishers of one commit against each other in the existing system's layout, which has one place for all of them.

use crate::seaweed::{BUCKET, Seaweed, WRITER};
use crate::support::{COMMIT, Job, clean, collect_jobs, map, maps, request};
use kernrec_publish::publishing::{Evidence, Outcome, PublishReport, PublishRequest};
use kernrec_publish::{Refusal, publish};
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::pointer::UpstreamPointer;
use kernrec_schemas::{Backend, Pipeline};
use kernrec_store::conformance::Delegate;
use kernrec_store::remote::{Credentials, RemoteOptions, open_remote};
use kernrec_store::upstream::{Half, Place, Seen, read_pair, read_pointer};
use kernrec_store::{Key, LocalStore, Store, StoreError, Swap, Version, artifact};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};

fn pipeline(round: usize) -> Pipeline {
    format!("ci-{round}").parse().unwrap()
}

/// A publish of the one commit in which both halves are this writer's own.
fn publish_own(
    store: &dyn Store,
    writer: usize,
    change: impl FnOnce(&mut PublishRequest<'_>),
) -> PublishReport {
    publish_halves(store, (writer, writer), change)
}

/// The table of one writer, and the map of another.
fn publish_halves(
    store: &dyn Store,
    (table, map_of): (usize, usize),
    change: impl FnOnce(&mut PublishRequest<'_>),
) -> PublishReport {
    let (launched, mapped) = (format!("own_{table}"), format!("own_{map_of}"));
    let job = Job::new("j1", "s").recordings(&[&clean(&["k", &launched])]);
    let (_dir, collected) = collect_jobs(&[job]);
    let maps = maps(vec![map(Backend::Cuda, &["k", &mapped])]);
    let mut request = request(Evidence::Recordings(&collected), &maps);
    request.layout = StoreLayout::Upstream;
    change(&mut request);
    publish(store, &request).unwrap()
}

fn in_round(round: usize) -> impl Fn(&mut PublishRequest<'_>) {
    move |request| request.pipeline = pipeline(round)
}

fn pointer(store: &dyn Store, round: usize) -> Option<UpstreamPointer> {
    let place = Place::of_pipeline(pipeline(round));
    let read = read_pointer(store, &place, &pipeline(round), Backend::Cuda, None);
    match read.unwrap() {
        Seen::Found(found) => Some(found.pointer),
        Seen::Absent | Seen::Unchanged => None,
    }
}

/// Both files are what the pointer says.
fn assert_whole(store: &dyn Store, round: usize) {
    let pointer = pointer(store, round).expect("somebody published");
    assert_eq!(pointer.digests.len(), 2);
    let place = Place::of_pipeline(pipeline(round));
    let (commit, digests) = (&pointer.commit, &pointer.digests);
    let pair = read_pair(
        store,
        &place,
        &pipeline(round),
        Backend::Cuda,
        commit,
        digests,
    );
    pair.unwrap();
}

fn file(round: usize, half: Half) -> Key {
    let place = Place::of_pipeline(pipeline(round));
    place
        .file(&COMMIT.parse().unwrap(), half, Backend::Cuda)
        .unwrap()
}

/// Leaves what a broken upload of somebody's leaves.
fn spoil(store: &dyn Store, round: usize, half: Half) {
    let whole = artifact::gzip(b"{}");
    store
        .put_new(&file(round, half), &whole[..whole.len() / 2])
        .unwrap();
}

/// Exactly one of the writers publishes, and nobody ever sees a mixture.
fn race(store: &(dyn Store + Sync), round: usize, writers: usize) {
    let barrier = Barrier::new(writers);
    let reports: Vec<PublishReport> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..writers)
            .map(|writer| {
                let barrier = &barrier;
                scope.spawn(move || {
                    publish_own(store, writer, |request| {
                        in_round(round)(request);
                        barrier.wait();
                    })
                })
            })
            .collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .collect()
    });
    for report in &reports {
        let lost = matches!(
            report.refusals[..],
            [Refusal::CommitAlreadyPublished { .. }]
        );
        assert!(report.outcome == Outcome::Published || lost, "{report:?}");
    }
    let published = reports
        .iter()
        .filter(|report| report.outcome == Outcome::Published);
    assert_eq!(published.count(), 1, "{reports:?}");
    assert_whole(store, round);
}

/// Over nothing, over a broken table, over a broken map, over both.
fn race_over_all(store: &(dyn Store + Sync), rounds: usize, writers: usize) {
    for round in 0..rounds {
        let halves = [(1, Half::Table), (2, Half::SymbolMap)];
        for (bit, half) in halves {
            if round & bit != 0 {
                spoil(store, round, half);
            }
        }
        race(store, round, writers);
    }
}

#[test]
fn one_writer_of_a_commit_wins_whole_in_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::create(folder.path()).unwrap();
    race_over_all(&store, 24, 4);
}

#[test]
fn one_writer_of_a_commit_wins_whole_in_a_bucket() {
    let server = Seaweed::start();
    let options = RemoteOptions {
        endpoint: Some(server.endpoint.clone()),
        credentials: Some(Credentials {
            key_id: WRITER.0.to_owned(),
            secret: WRITER.1.to_owned(),
        }),
        ..RemoteOptions::default()
    };
    let store = open_remote(&format!("s3://{BUCKET}/races"), &options).unwrap();
    race_over_all(&*store, 4, 3);
}

/// A store in which another writer publishes just before the first overwriting of a file.
struct Overtaken<'a> {
    inner: &'a LocalStore,
    first: AtomicBool,
    at: Half,
}

impl Overtaken<'_> {
    fn overtake(&self, key: &Key) {
        if *key == file(0, self.at) && self.first.swap(false, Ordering::SeqCst) {
            // Where the map is at stake, both writers have the same table.
            let table = if self.at == Half::Table { 1 } else { 2 };
            let report = publish_halves(self.inner, (table, 1), in_round(0));
            assert_eq!(report.outcome, Outcome::Published, "{report:?}");
        }
    }
}

impl Delegate for Overtaken<'_> {
    fn inner(&self) -> &dyn Store {
        self.inner
    }
    fn put(&self, key: &Key, bytes: &[u8]) -> Result<(), StoreError> {
        self.overtake(key);
        self.inner.put(key, bytes)
    }
    fn swap_pointer(
        &self,
        key: &Key,
        expected: Option<&Version>,
        bytes: &[u8],
    ) -> Result<Swap, StoreError> {
        self.overtake(key);
        self.inner.swap_pointer(key, expected, bytes)
    }
}

#[test]
fn a_broken_file_that_another_writer_replaced_is_theirs() {
    for half in Half::ALL {
        let folder = tempfile::tempdir().unwrap();
        let store = LocalStore::create(folder.path()).unwrap();
        spoil(&store, 0, half);
        let overtaken = Overtaken {
            inner: &store,
            first: AtomicBool::new(true),
            at: half,
        };
        let late = publish_own(&overtaken, 2, in_round(0));
        assert!(!overtaken.first.into_inner(), "{half:?}: it was overtaken");
        assert_eq!(late.outcome, Outcome::Refused, "{half:?}: {late:?}");
        assert_whole(&store, 0);
    }
}

#[test]
fn what_a_killed_publisher_left_is_replaced_only_when_told_so_and_unnamed() {
    let folder = tempfile::tempdir().unwrap();
    let store = LocalStore::create(folder.path()).unwrap();
    // A table and no map; and a whole pair whose pointer never moved.
    for (round, halves) in [(0, &Half::ALL[..1]), (1, &Half::ALL[..])] {
        let elsewhere = round + 10;
        publish_own(&store, 1, in_round(elsewhere));
        for half in halves {
            let bytes = fs_err::read(folder.path().join(file(elsewhere, *half).as_str())).unwrap();
            store.put_new(&file(round, *half), &bytes).unwrap();
        }
        let blocked = publish_own(&store, 2, in_round(round));
        assert_eq!(blocked.outcome, Outcome::Refused, "{blocked:?}");
        let told = |dry_run| {
            publish_own(&store, 2, |request| {
                in_round(round)(request);
                request.replace_unnamed = true;
                request.dry_run = dry_run;
            })
        };
        assert_eq!(told(true).outcome, Outcome::Published);
        assert!(pointer(&store, round).is_none(), "a dry run moves nothing");
        let replaced = told(false);
        assert_eq!(replaced.outcome, Outcome::Published, "{replaced:?}");
        assert_whole(&store, round);

        // Now the pointer names it, and its readers are at work.
        let before = pointer(&store, round).unwrap();
        let named = publish_own(&store, 3, |request| {
            in_round(round)(request);
            request.replace_unnamed = true;
        });
        assert!(
            matches!(named.refusals[..], [Refusal::CommitAlreadyPublished { .. }]),
            "{named:?}"
        );
        assert_eq!(pointer(&store, round).unwrap(), before);
        assert_whole(&store, round);
    }
}
