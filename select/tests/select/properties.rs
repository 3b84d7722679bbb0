//! The four rules of a safe selection, on random records, and a restatement of the rule to skip.

use crate::common::{skipped, to_run, unavailable};
use crate::world::{
    FileStep, KERNELS, STEPS, StepFile, World, any_world, broken_lineage, kernel_name, step_key,
};
use kernrec_schemas::symbol_map::MapObject;
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{KernelName, RowBackend, StepKey};
use kernrec_select::{FileClass, Lineage, Moved, Pair, Policy, Record, Report};
use proptest::prelude::*;
use proptest::sample::Index;
use std::collections::BTreeSet;

const CASES: u32 = 1500;

/// What one more launch may change about the files: a file that nobody had launched a kernel of becomes news.
fn newly_observed(before: &Report, after: &Report) -> bool {
    let classes = |report: &Report| -> Vec<FileClass> {
        report
            .files
            .iter()
            .flat_map(|file| &file.seen)
            .map(|seen| seen.class)
            .collect()
    };
    classes(before)
        .iter()
        .zip(classes(after))
        .any(|(before, after)| {
            *before == FileClass::FileNeverObserved && after == FileClass::FileMayDrop
        })
}

/// Makes a row's health worse in one way.
fn worsen(row: &mut kernrec_schemas::table::Row, own: RowBackend, how: usize) {
    match how {
        0 => row.passed = false,
        1 => row.complete = false,
        2 => row.dropped += 1,
        3 => row.trace_complete = false,
        4 => _ = row.reasons.insert(RowReason::NoFooter),
        5 => row.kernels.push(99),
        _ if row.backend == own => row.backend = RowBackend::Unknown,
        _ => {}
    }
}

/// Damages a pair in one way.
fn damage(pair: &mut Pair, how: usize) {
    let map = &mut pair.maps[0];
    match how {
        0 => map.incomplete = true,
        1 => map.reason = Some("the build failed".to_owned()),
        2 => map.objects[0].error = Some("truncated".to_owned()),
        3 => {
            map.objects[0].symbols.clear();
            map.objects[0].error = Some("unreadable".to_owned());
        }
        4 => map.objects.clear(),
        5 => map.commit = None,
        6 => pair.table.source.commit = None,
        7 => pair.published_at = None,
        8 => pair.revoked = true,
        9 => pair.maps.clear(),
        10 => pair.lineage = broken_lineage(),
        11 => pair.lineage = Lineage::Ancestor(Moved::of_files(["a.cu", "b.cu", "shared.cuh"])),
        12 => pair.unverified = Some("nobody signed".to_owned()),
        _ => {
            for row in pair.table.rows.values_mut() {
                worsen(row, RowBackend::Known(pair.backend), 6);
                worsen(row, RowBackend::Known(pair.backend), 4);
            }
        }
    }
}

/// Reorders everything in a world whose order carries no meaning.
fn shuffled(world: &World, by: &[Index]) -> World {
    let mut world = world.clone();
    let mut rotate = by.iter().cycle();
    let mut next = |len: usize| rotate.next().unwrap().index(len.max(1));
    world.records.reverse();
    if let Some(file) = &mut world.step_file {
        let at = next(file.steps.len());
        file.steps.rotate_left(at);
    }
    let at = next(world.files.len());
    world.files.rotate_left(at);
    for record in &mut world.records {
        let Record::Ready(pair) = record else {
            continue;
        };
        for map in &mut pair.maps {
            let at = next(map.objects.len());
            map.objects.rotate_left(at);
            for object in &mut map.objects {
                object.symbols.reverse();
                object.deps.reverse();
            }
        }
        let len = pair.table.names.len();
        let at = next(len);
        pair.table.names.rotate_left(at);
        for kernel in pair
            .table
            .rows
            .values_mut()
            .flat_map(|row| &mut row.kernels)
        {
            *kernel = u32::try_from((*kernel as usize + len - at) % len).unwrap();
        }
    }
    world
}

/// The rule to skip, restated with sets of names: every condition by itself, over the raw documents.
fn expected_skips(world: &World) -> BTreeSet<StepKey> {
    let pairs: Vec<&Pair> = (0..world.records.len())
        .filter_map(|at| world.pair(at))
        .collect();
    let is_whole = pairs.len() == world.records.len() && !pairs.is_empty();
    let Some(file) = &world.step_file else {
        let steps = pairs.iter().flat_map(|pair| pair.table.rows.keys());
        let skipped =
            steps.filter(|step| is_whole && records_let_go(world, &pairs, step, &world.files));
        return skipped.cloned().collect();
    };
    let is_all = (file.run_all).is_some_and(|pattern| world.files.iter().any(|f| f == pattern));
    if !is_whole || is_all {
        return BTreeSet::new();
    }
    let keys: Vec<usize> = file.steps.iter().filter_map(|step| step.key).collect();
    let mut skipped: BTreeSet<usize> = BTreeSet::new();
    for step in &file.steps {
        let Some(key) = step.key else { continue };
        let is_ambiguous = keys.iter().filter(|&&other| other == key).count() > 1;
        if !is_ambiguous && !reaches_itself(file, key) && step_lets_go(world, &pairs, step, key) {
            skipped.insert(key);
        }
    }
    loop {
        let running = file
            .steps
            .iter()
            .filter(|step| step.key.is_none_or(|key| !skipped.contains(&key)));
        let needed: BTreeSet<usize> = running.flat_map(|step| &step.needs).copied().collect();
        let before = skipped.len();
        skipped.retain(|key| !needed.contains(key));
        if skipped.len() == before {
            return skipped.into_iter().map(step_key).collect();
        }
    }
}

/// On a circle of needs, or on the way from one to another.
fn reaches_itself(file: &StepFile, key: usize) -> bool {
    let needs = |key: usize| {
        let of_key = file.steps.iter().filter(move |step| step.key == Some(key));
        of_key.flat_map(|step| &step.needs).copied()
    };
    let reached = |from: usize| {
        let mut found: BTreeSet<usize> = BTreeSet::new();
        let mut open: Vec<usize> = needs(from).collect();
        while let Some(next) = open.pop() {
            if file.steps.iter().any(|step| step.key == Some(next)) && found.insert(next) {
                open.extend(needs(next));
            }
        }
        found
    };
    let on_circle = |key: usize| reached(key).contains(&key);
    let leads_to_one = reached(key).into_iter().any(on_circle);
    let keys = file.steps.iter().filter_map(|step| step.key);
    let comes_from_one = keys
        .into_iter()
        .any(|from| on_circle(from) && reached(from).contains(&key));
    // A step without a key is reached by nobody, so it is on no way.
    on_circle(key) || (leads_to_one && comes_from_one)
}

fn step_lets_go(world: &World, pairs: &[&Pair], step: &FileStep, key: usize) -> bool {
    let key = step_key(key);
    let proposing: Vec<String> = match &step.paths {
        None => world.files.clone(),
        Some(paths) => {
            let files = world.files.iter();
            files
                .filter(|file| paths.iter().any(|path| file.starts_with(path)))
                .cloned()
                .collect()
        }
    };
    if !proposing.is_empty() {
        return records_let_go(world, pairs, &key, &proposing);
    }
    // The records add, and one with gaps might have.
    with_a_row(pairs, &key).iter().all(|pair| {
        let map = &pair.maps[0];
        let users = map
            .objects
            .iter()
            .filter(|object| uses_any(object, &world.files));
        let is_gapless = !map.incomplete && users.clone().all(|object| object.error.is_none());
        is_gapless && !launched_any(world, pair, &key)
    })
}

fn records_let_go(world: &World, pairs: &[&Pair], step: &StepKey, proposing: &[String]) -> bool {
    let with_a_row = with_a_row(pairs, step);
    !with_a_row.is_empty()
        && with_a_row
            .iter()
            .all(|pair| !launched_any(world, pair, step) && lets_go(pair, step, proposing))
}

/// The pairs that have a say about a step.
fn with_a_row<'p>(pairs: &[&'p Pair], step: &StepKey) -> Vec<&'p Pair> {
    let is_own = |pair: &&&Pair| {
        let row = pair.table.rows.get(step);
        row.is_some_and(|row| {
            row.backend
                .known()
                .is_none_or(|backend| backend == pair.backend)
        })
    };
    pairs.iter().filter(is_own).copied().collect()
}

fn uses_any(object: &MapObject, files: &[String]) -> bool {
    files
        .iter()
        .any(|file| object.deps.contains(&file.as_str().into()))
}

/// Whether the step launched a kernel of any changed file, under any name that may be the kernel's.
fn launched_any(world: &World, pair: &Pair, step: &StepKey) -> bool {
    let map = &pair.maps[0];
    let users = map
        .objects
        .iter()
        .filter(|object| uses_any(object, &world.files));
    let kernels: BTreeSet<&KernelName> = users.flat_map(|object| &object.symbols).collect();
    let known: BTreeSet<&KernelName> = map.objects.iter().flat_map(|o| &o.symbols).collect();
    let one_commit = map.commit.is_some() && map.commit == pair.table.source.commit;
    let row = &pair.table.rows[step];
    pair.table.kernels(row).any(|name| {
        if one_commit && known.contains(name) {
            return kernels.contains(name);
        }
        kernels
            .iter()
            .any(|kernel| kernel.stable() == name.stable())
    })
}

fn lets_go(pair: &Pair, step: &StepKey, proposing: &[String]) -> bool {
    let row = &pair.table.rows[step];
    let own = |backend: RowBackend| {
        backend
            .known()
            .is_none_or(|backend| backend == pair.backend)
    };
    let map = &pair.maps[0];
    let anyone: BTreeSet<&KernelName> = pair
        .table
        .rows
        .values()
        .filter(|row| own(row.backend))
        .flat_map(|row| pair.table.kernels(row))
        .collect();
    let known: BTreeSet<&KernelName> = map.objects.iter().flat_map(|o| &o.symbols).collect();
    let of_another_build: BTreeSet<_> = anyone
        .iter()
        .filter(|name| !known.contains(*name))
        .map(|name| name.stable())
        .collect();
    let fresh = Policy::at(crate::common::now())
        .freshness(pair.published_at)
        .is_fresh();
    let is_ancestor = !matches!(pair.lineage, Lineage::Broken { .. });
    let healthy = row.is_usable() && !map.incomplete && !pair.revoked && fresh && is_ancestor;
    let one_commit = map.commit.is_some() && map.commit == pair.table.source.commit;
    healthy
        && one_commit
        && proposing.iter().all(|file| {
            let users: Vec<_> = map
                .objects
                .iter()
                .filter(|object| object.deps.contains(&file.as_str().into()))
                .collect();
            let kernels: BTreeSet<&KernelName> =
                users.iter().flat_map(|object| &object.symbols).collect();
            users
                .iter()
                .all(|object| !object.symbols.is_empty() && object.error.is_none())
                && !users.iter().any(|object| has_moved(pair, object))
                && !kernels
                    .iter()
                    .any(|name| of_another_build.contains(&name.stable()))
                && !kernels.is_disjoint(&anyone)
        })
}

fn has_moved(pair: &Pair, object: &MapObject) -> bool {
    let Lineage::Ancestor(moved) = &pair.lineage else {
        return false;
    };
    // The generator moves one of its files at most.
    let is_moved = |file: &str| *moved == Moved::of_files([file]);
    object.deps.iter().any(|dep| is_moved(dep))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    /// (a) More evidence of launches never removes the step that launched, and never any other step either, unless
    /// the launch is the first that anyone saw of a file. That one exception is wanted (`file-never-observed`): until
    /// then nobody's silence about the file was news, and once somebody launched its kernels, it is.
    #[test]
    fn a_launch_more_never_removes_a_step(
        world in any_world(), at in any::<Index>(), key in 0..STEPS, kernel in 0..KERNELS,
    ) {
        prop_assume!(!world.records.is_empty());
        let at = at.index(world.records.len());
        let before = world.ask();
        let mut more = world;
        let step = step_key(key);
        if let Some(row) = more.row_mut(at, &step) {
            row.kernels.push(u32::try_from(kernel).unwrap());
        }
        let after = more.ask();
        prop_assert!(!to_run(&before).contains(&step) || to_run(&after).contains(&step));
        if !newly_observed(&before, &after) {
            prop_assert!(to_run(&before).is_subset(&to_run(&after)), "{before:#?}\n{after:#?}");
        }
    }

    /// (b) A row in worse health never lets more steps go.
    #[test]
    fn worse_health_never_skips_more(world in any_world(), at in any::<Index>(), key in 0..STEPS, how in 0..7_usize) {
        prop_assume!(!world.records.is_empty());
        let at = at.index(world.records.len());
        let before = world.ask();
        let mut worse = world;
        let own = RowBackend::Known(worse.records[at].backend());
        if let Some(row) = worse.row_mut(at, &step_key(key)) {
            worsen(row, own, how);
        }
        prop_assert!(skipped(&worse.ask()).is_subset(&skipped(&before)));
    }

    /// (c) A lost or damaged pair never lets more steps go.
    #[test]
    fn a_damaged_pair_never_skips_more(world in any_world(), at in any::<Index>(), how in 0..15_usize) {
        prop_assume!(!world.records.is_empty());
        let at = at.index(world.records.len());
        let before = world.ask();
        let mut damaged = world;
        match damaged.pair_mut(at) {
            Some(pair) if how < 14 => damage(pair, how),
            _ => damaged.records[at] = unavailable(damaged.records[at].backend()),
        }
        prop_assert!(skipped(&damaged.ask()).is_subset(&skipped(&before)));
    }

    /// (d) No order matters: not of records, files, objects, symbols, names.
    #[test]
    fn no_order_matters(world in any_world(), by in prop::collection::vec(any::<Index>(), 4)) {
        prop_assert_eq!(world.ask(), shuffled(&world, &by).ask());
    }

    /// A step is skipped exactly when a restatement of the rule says so, and every step has exactly one fate.
    #[test]
    fn the_skipped_are_those_of_the_restated_rule(world in any_world()) {
        let report = world.ask();
        let (skipped, run) = (skipped(&report), to_run(&report));
        prop_assert!(skipped.is_disjoint(&run));
        let expected = expected_skips(&world);
        prop_assert_eq!(skipped, expected);
    }

    /// A list of keys is never empty and never complete: either would be misread.
    #[test]
    fn a_list_of_keys_names_some_steps_and_not_all(world in any_world()) {
        let report = world.ask();
        prop_assert_eq!(report.everything_must_run, report.skipped.is_empty());
        if !report.everything_must_run && world.step_file.is_none() {
            prop_assert!(!report.selected.is_empty());
        }
    }
}

/// The generator must reach both answers often, or the rules above hold for nothing.
#[test]
fn random_records_let_steps_go_and_keep_them() {
    use proptest::strategy::ValueTree;
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let mut lets_go = 0;
    let mut everything = 0;
    for _ in 0..400 {
        let report = any_world().new_tree(&mut runner).unwrap().current().ask();
        lets_go += usize::from(!report.everything_must_run);
        everything += usize::from(report.everything_must_run);
    }
    assert!(
        lets_go > 40 && everything > 40,
        "{lets_go} of 400 worlds let a step go"
    );
    assert_eq!(kernel_name(0).len(), kernel_name(1).len());
}
