//! Laws of the fold: input order leaves no trace, worse health never authorises, names are never lost.

use crate::support::{
    Job, clean, clean_rocm, collect_dir, dropped, idle_rocm, killed, options, words,
};
use kernrec_publish::{Inputs, collect, fold};
use kernrec_schemas::Backend;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn recording() -> impl Strategy<Value = String> {
    let names = proptest::collection::btree_set("[a-e]", 0..4);
    (names, 0..8_u8).prop_map(|(names, kind)| {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        match kind {
            0 => killed(&names),
            1 => dropped(&names),
            2 => String::new(),
            3 => clean_rocm(&names),
            4 => idle_rocm(),
            _ => clean(&names),
        }
    })
}

prop_compose! {
    fn job()(
        id in 0..6_u8,
        step in "[st]",
        recordings in proptest::collection::vec(recording(), 0..3),
        exit in prop_oneof![4 => Just(0_i64), 1 => Just(1)],
        retry in proptest::option::of(0..3_u64),
        shard in proptest::option::of((0..3_u64, 1..3_u64)),
        rocm in proptest::bool::weighted(0.2),
        foreign in proptest::bool::weighted(0.1),
    ) -> Job {
        let texts: Vec<&str> = recordings.iter().map(String::as_str).collect();
        let mut job = Job::new(&format!("j{id}"), &step).recordings(&texts).set("exit_status", exit);
        if let Some(retry) = retry {
            job = job.set("retry_count", retry.to_string());
        }
        if let Some((index, count)) = shard {
            job = job.shard(index, count);
        }
        if rocm {
            job = job.set("backend", "rocm");
        }
        if foreign {
            job = job.set("commit", "feed");
        }
        job
    }
}

/// Each job in an input folder of its own, so that one id may occur twice.
fn write(jobs: &[Job]) -> (tempfile::TempDir, Inputs) {
    let dir = tempfile::tempdir().unwrap();
    let recordings = jobs
        .iter()
        .enumerate()
        .map(|(n, job)| {
            let input = dir.path().join(n.to_string());
            job.write(&input);
            input
        })
        .collect();
    let inputs = Inputs {
        recordings,
        bundles: Vec::new(),
    };
    (dir, inputs)
}

fn bytes(inputs: &Inputs, backend: Backend) -> Vec<u8> {
    fold(&collect(inputs).unwrap(), &options(backend)).to_canonical()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_order_of_the_inputs_leaves_no_trace(
        (jobs, order) in proptest::collection::vec(job(), 1..7).prop_flat_map(|jobs| {
            let indexes: Vec<usize> = (0..jobs.len()).collect();
            (Just(jobs), Just(indexes).prop_shuffle())
        }),
    ) {
        let (_dir, inputs) = write(&jobs);
        let shuffled = Inputs {
            recordings: order.iter().map(|&n| inputs.recordings[n].clone()).collect(),
            bundles: Vec::new(),
        };
        // Written elsewhere in another order, too: paths and folder times differ.
        let moved: Vec<Job> = order.iter().map(|&n| jobs[n].clone()).collect();
        let (_moved_dir, moved) = write(&moved);
        for backend in Backend::KERNELS {
            let expected = bytes(&inputs, backend);
            prop_assert_eq!(&bytes(&shuffled, backend), &expected);
            prop_assert_eq!(&bytes(&moved, backend), &expected);
        }
    }

    #[test]
    fn no_name_is_lost_and_reasons_and_old_readers_agree(
        jobs in proptest::collection::vec(job(), 1..7),
    ) {
        let (_dir, inputs) = write(&jobs);
        let collected = collect(&inputs).unwrap();
        let mut tabled = BTreeSet::new();
        for backend in Backend::KERNELS {
            let table = fold(&collected, &options(backend));
            for row in table.rows.values() {
                tabled.extend(table.kernels(row).map(ToString::to_string));
                let old = row.passed && row.complete && row.dropped == 0 && row.trace_complete
                    && row.backend.known().is_some();
                prop_assert_eq!(old, row.is_usable(), "{:?}", words(row));
                prop_assert_eq!(row.is_usable(), row.reasons.is_empty());
            }
        }
        let seen: BTreeSet<String> = collected.names().iter().map(ToString::to_string).collect();
        prop_assert_eq!(tabled, seen);
    }

    #[test]
    fn worse_health_never_makes_a_row_usable(
        jobs in proptest::collection::vec(job(), 1..6),
        victim in any::<prop::sample::Index>(),
        harm in 0..5_u8,
    ) {
        let dir = tempfile::tempdir().unwrap();
        let mut by_id: std::collections::BTreeMap<String, Job> = std::collections::BTreeMap::new();
        for job in jobs {
            by_id.insert(job.id.clone(), job);
        }
        let jobs: Vec<Job> = by_id.into_values().collect();
        for job in &jobs {
            job.write(dir.path());
        }
        let before = collect_dir(dir.path());
        let victim = dir.path().join(&jobs[victim.index(jobs.len())].id);
        let mut files: Vec<_> = fs_err::read_dir(&victim).unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "txt"))
            .collect();
        files.sort();
        let Some(file) = files.first() else { return Ok(()) };
        let text = fs_err::read_to_string(file).unwrap();
        let worse = match harm {
            0 => text.split_inclusive('\n').filter(|line| !line.starts_with("# end")).collect(),
            1 => text.trim_end().to_owned(),
            2 => format!("{text}# error=final-flush\n"),
            3 => format!("{text}# dropped=1\n"),
            _ => format!("{text}{text}"),
        };
        crate::support::put(file, worse.as_bytes());
        let after = collect_dir(dir.path());
        for backend in Backend::KERNELS {
            let (before, after) = (fold(&before, &options(backend)), fold(&after, &options(backend)));
            for (step, row) in &after.rows {
                let was_usable = before.rows.get(step).is_some_and(kernrec_schemas::table::Row::is_usable);
                prop_assert!(!row.is_usable() || was_usable, "{step}: {harm}");
            }
        }
    }
}
