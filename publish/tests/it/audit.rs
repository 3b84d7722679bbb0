//! Who is to blame.

use crate::support::{Job, clean, collect_jobs, killed, options};
use kernrec_publish::{audit, audit_table, fold};
use kernrec_schemas::Backend;

#[test]
fn rules_are_priced_and_processes_named() {
    let (_dir, collected) = collect_jobs(&[
        Job::new("j1", "a").recordings(&[&clean(&["k"]), &killed(&["k"])]),
        Job::new("j2", "b")
            .recordings(&[&killed(&["k"])])
            .set("exit_status", 137),
        Job::new("j3", "c"),
        Job::new("j4", "d").set("collection_error", "setup incomplete"),
    ]);
    let audit = audit(&collected, &options(Backend::Cuda));
    assert_eq!((audit.rows, audit.usable_rows), (4, 1));
    let rules: Vec<(&str, u64, u64)> = audit
        .rules
        .iter()
        .map(|rule| (rule.reason.word(), rule.rows, rule.alone))
        .collect();
    let expected = [
        ("no-footer", 2, 1),
        ("collection-unavailable", 1, 1),
        ("not-passed", 1, 0),
    ];
    assert_eq!(rules, expected);
    let of = |step: &str, word: &str| {
        let found = |blame: &&kernrec_publish::audit::Blame| {
            blame.step.as_str() == step && blame.reason.word() == word
        };
        audit.blame.iter().find(found).unwrap()
    };
    let killed = of("a", "no-footer");
    assert_eq!(killed.job.as_ref().unwrap().as_str(), "j1");
    assert_eq!(killed.file.as_deref(), Some("kern.2.txt"));
    assert_eq!(killed.pid, Some(310));
    assert_eq!(killed.exe.as_deref(), Some("/opt/py/bin/python"));
    assert_eq!(
        of("b", "not-passed").detail.as_deref(),
        Some("exit status 137")
    );
    assert_eq!(
        of("d", "collection-unavailable").detail.as_deref(),
        Some("setup incomplete")
    );
    assert_eq!(audit.blame.len(), 4);
}

#[test]
fn a_table_alone_gives_the_same_prices_without_processes() {
    let (_dir, collected) = collect_jobs(&[
        Job::new("j1", "a").recordings(&[&killed(&["k"])]),
        Job::new("j2", "b").shard(0, 2),
    ]);
    let options = options(Backend::Cuda);
    let whole = audit(&collected, &options);
    let table = audit_table(&fold(&collected, &options));
    assert_eq!(table.rules, whole.rules);
    assert_eq!(table.processes, whole.processes);
    assert_eq!(table.blame.len(), 2);
    assert!(table.blame.iter().all(|blame| blame.job.is_none()));
}
