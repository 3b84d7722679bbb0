//! Using what is installed.

use crate::support::{World, commit_of, now, only, overwrite, reason};
use kernrec_fetch::{BackendReport, Backends, Choice, FetchOptions, Silent, Source, Status, fetch};
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, Pipeline, Timestamp};
use std::time::Duration;

fn installed() -> World {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 1);
    world.fetch();
    world
}

fn offline(world: &World, change: impl FnOnce(&mut FetchOptions)) -> BackendReport {
    let mut options = world.options();
    change(&mut options);
    only(fetch(Source::Offline, &options, &Silent))
}

fn word(report: &BackendReport) -> (Status, &'static str) {
    (report.status, reason(report))
}

#[test]
fn what_is_installed_is_used_and_its_age_told() {
    let world = installed();
    let report = offline(&world, |options| {
        options.now = Timestamp::from_unix(now().unix() + 7200).unwrap();
    });
    assert_eq!(report.status, Status::Offline);
    assert_eq!(report.pair.unwrap().age_seconds, Some(7200));
}

#[test]
fn digests_are_checked_whatever_sizes_and_times_say() {
    let world = installed();
    let path = world.folder().join("kernel_table.json.zst");
    let mut bytes = fs_err::read(&path).unwrap();
    let modified = fs_err::metadata(&path).unwrap().modified().unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    overwrite(&path, &bytes);
    let file = fs_err::File::options().write(true).open(&path).unwrap();
    file.into_parts().0.set_modified(modified).unwrap();
    let report = offline(&world, |_| {});
    assert_eq!(word(&report), (Status::Failed, "installed-damaged"));
}

#[test]
fn nothing_installed_is_an_error_but_not_for_one_of_all() {
    let world = installed();
    let mut options = world.options();
    options.backends = Backends::All;
    let report = fetch(Source::Offline, &options, &Silent);
    assert_eq!(report.exit, Exit::Done);
    assert_eq!(
        word(&report.backends[1]),
        (Status::NotInstalled, "never-installed")
    );
    options.out = world.dir.path().join("nowhere");
    assert_eq!(fetch(Source::Offline, &options, &Silent).exit, Exit::Failed);
    assert!(!options.out.exists());
}

#[test]
fn another_record_than_asked_for_is_not_used() {
    let world = installed();
    let commit = |text: &str| Choice::Commit(commit_of(text));
    assert_eq!(
        offline(&world, |o| o.choice = commit("aaaa")).status,
        Status::Offline
    );
    let report = offline(&world, |o| o.choice = commit("bbbb"));
    assert_eq!(word(&report), (Status::Failed, "commit-not-installed"));
    let report = offline(&world, |o| o.pipeline = Pipeline::new("nightly").unwrap());
    assert_eq!(word(&report), (Status::Failed, "pipeline-not-installed"));
    let report = offline(&world, |options| {
        options.max_age = Some(Duration::from_hours(1));
        options.now = Timestamp::from_unix(now().unix() + 7200).unwrap();
    });
    assert_eq!(word(&report), (Status::Refused, "record-too-old"));
}

#[test]
fn a_revoked_record_is_not_used() {
    let world = World::new();
    let good = world.publish(Backend::Cuda, "aaaa", 1);
    world.publish(Backend::Cuda, "bbbb", 2);
    world.fetch();
    world.roll_back(Backend::Cuda, &good);
    fs_err::remove_file(crate::support::object_path(&world, &good.manifest)).unwrap();
    world.fetch();
    let report = offline(&world, |_| {});
    assert_eq!(word(&report), (Status::Refused, "revoked"));
    assert!(report.pair.unwrap().revoked.is_some());
}
