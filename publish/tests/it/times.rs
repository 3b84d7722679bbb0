//! Where the record's time comes from, and the branch that may publish.

use crate::support::{commit, map, maps, time};
use kernrec_publish::publishing::{BatchReport, SkippedBranch};
use kernrec_publish::recorded_at::{RecordedAtError, Sources, recorded_at};
use kernrec_schemas::Backend;
use kernrec_schemas::exit::Exit;

#[test]
fn the_first_source_that_is_there_decides_and_a_bad_one_is_an_error() {
    let mut dated = map(Backend::Cuda, &["k"]);
    dated.generated_at = Some("2026-01-02T03:04:05+01:00".parse().unwrap());
    let (dated, undated) = (maps(vec![dated]), maps(vec![map(Backend::Cuda, &["k"])]));
    let commit = commit();
    let sources = Sources {
        given: None,
        source_date_epoch: None,
        repo: None,
        commit: &commit,
        maps: &dated,
        backend: Backend::Cuda,
    };
    let of = |sources: Sources<'_>| recorded_at(&sources).map(|time| time.to_string());
    assert_eq!(of(sources).unwrap(), "2026-01-02T02:04:05Z");
    let epoch = Sources {
        source_date_epoch: Some("86400"),
        ..sources
    };
    assert_eq!(of(epoch).unwrap(), "1970-01-02T00:00:00Z");
    let given = Sources {
        given: Some(time()),
        ..epoch
    };
    assert_eq!(of(given).unwrap(), time().to_string());
    let bad = Sources {
        source_date_epoch: Some("yesterday"),
        ..sources
    };
    assert!(matches!(of(bad), Err(RecordedAtError::SourceDateEpoch(text)) if text == "yesterday"));
    let nothing = Sources {
        maps: &undated,
        ..sources
    };
    assert!(matches!(of(nothing), Err(RecordedAtError::NoSource)));
}

#[test]
fn only_one_branch_publishes_when_asked_so() {
    assert_eq!(SkippedBranch::check(None, None), None);
    assert_eq!(SkippedBranch::check(None, Some("x")), None);
    assert_eq!(SkippedBranch::check(Some("main"), Some("main")), None);
    for branch in [None, Some("x"), Some("")] {
        let skipped = SkippedBranch::check(Some("main"), branch).unwrap();
        assert_eq!(BatchReport::skipped(skipped).exit(), Exit::Done);
    }
}
