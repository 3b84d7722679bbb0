//! When a step's silence may be read, formats.md section 8.

use kernrec_schemas::function_recording::{
    FunctionRecording, JobFacts, SessionNotes, thin_reasons,
};
use kernrec_schemas::table::RowReason;
use proptest::prelude::*;
use std::collections::BTreeSet;

const RECORDING: &str = "#start\tpid=9\tpy=3.12.1\n#root\t/s/vllm/\tt=1\n/s/vllm/a.py\tf\t1\n#end\troot=1\tother=0\terrors=0\tlast_error=\tt=2\n";
const KILLED: &str = "#start\tpid=8\tpy=3.12.1\n#root\t/s/vllm/\tt=1\n/s/vllm/a.py\tf\t1\n";
const NOTES: &str = "{\"event\":\"collected\",\"selected\":1,\"deselected\":0}\n{\"event\":\"session\",\"passed\":1}\n";

fn job(recordings: &[&str], notes: &[&str]) -> JobFacts {
    let mut job = JobFacts::default();
    for text in recordings {
        job.add_recording(&FunctionRecording::read(text.as_bytes()));
    }
    for text in notes {
        job.add_notes(&SessionNotes::read(text.as_bytes()));
    }
    job
}

#[test]
fn a_whole_job_is_not_thin_and_each_fault_has_its_reason() {
    let counted = RECORDING.replace("root=1", "root=2");
    let error = RECORDING.replace("errors=0", "errors=1");
    let outside = RECORDING.replace("/s/vllm/a.py", "/elsewhere/a.py");
    let broken = RECORDING.replace("#end", "/s/vllm/a.py\tg\n#end");
    let skipped = "{\"event\":\"session\",\"skipped\":3}\n";
    let killed = "{\"event\":\"collected\",\"selected\":1}\n";
    for (recordings, notes, expected) in [
        (&[RECORDING][..], &[NOTES][..], &[][..]),
        (&[RECORDING, KILLED], &[NOTES], &[]),
        (
            &[],
            &[NOTES],
            &[RowReason::NoFunctions, RowReason::NoCleanExit],
        ),
        (&[KILLED], &[NOTES], &[RowReason::NoCleanExit]),
        (&[&counted], &[NOTES], &[RowReason::LostLines]),
        (
            &[&error],
            &[NOTES],
            &[RowReason::LostLines, RowReason::RecorderError],
        ),
        (
            &[RECORDING, ""],
            &[NOTES],
            &[RowReason::LostLines, RowReason::EmptyRecording],
        ),
        (&[&outside], &[NOTES], &[RowReason::UnplacedFunctions]),
        (&[&broken], &[NOTES], &[RowReason::BrokenLine]),
        (&[RECORDING], &[], &[RowReason::RanNoTests]),
        (&[RECORDING], &[skipped], &[RowReason::RanNoTests]),
        (
            &[RECORDING],
            &[NOTES, killed],
            &[RowReason::SummaryUnparsed],
        ),
        (
            &[RECORDING],
            &[NOTES, "nonsense"],
            &[RowReason::SummaryUnparsed],
        ),
    ] {
        let reasons = thin_reasons(&[job(recordings, notes)], true);
        let expected: BTreeSet<_> = expected.iter().cloned().collect();
        assert_eq!(reasons, expected, "{recordings:?} {notes:?}");
    }
}

#[test]
fn shards_and_files_that_are_missing_are_reasons_too() {
    let whole = job(&[RECORDING], &[NOTES]);
    assert_eq!(
        thin_reasons(std::slice::from_ref(&whole), false),
        BTreeSet::from([RowReason::ShardsIncomplete])
    );
    let unreadable = JobFacts {
        unreadable: 1,
        ..whole.clone()
    };
    assert_eq!(
        thin_reasons(&[whole, unreadable], true),
        BTreeSet::from([RowReason::Unreadable])
    );
}

#[test]
fn a_job_tells_what_it_was_run_with() {
    let other = RECORDING.replace("3.12.1", "3.13.0");
    let facts = job(&[RECORDING, KILLED, &other], &[NOTES]);
    assert_eq!(
        facts.interpreters,
        BTreeSet::from(["3.12.1".to_owned(), "3.13.0".to_owned()])
    );
    assert_eq!(
        (facts.clean_exits, facts.functions, facts.tests.executed),
        (2, 3, 1)
    );
    assert_eq!((facts.processes.clean, facts.processes.no_footer), (2, 1));
}

fn any_job() -> impl Strategy<Value = JobFacts> {
    let recordings = proptest::sample::subsequence(vec![RECORDING, KILLED, ""], 0..=3);
    let notes = proptest::sample::subsequence(vec![NOTES, "nonsense\n"], 0..=2);
    (recordings, notes).prop_map(|(recordings, notes)| job(&recordings, &notes))
}

proptest! {
    /// More jobs never mend what is wrong with one, but for evidence that there was none of before.
    #[test]
    fn another_job_takes_no_reason_away_but_that_there_was_nothing(
        jobs in proptest::collection::vec(any_job(), 0..4),
        more in any_job(),
        shards in any::<bool>(),
    ) {
        let before = thin_reasons(&jobs, shards);
        let mut all = jobs.clone();
        all.push(more);
        let after = thin_reasons(&all, shards);
        for reason in before.difference(&after) {
            let was_nothing = matches!(reason, RowReason::NoFunctions | RowReason::NoCleanExit)
                || jobs.is_empty();
            prop_assert!(was_nothing, "{}", reason.word());
        }
    }
}
