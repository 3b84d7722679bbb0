//! What arrives, what does not, and what a record may be made of then.

use crate::buildkite::{STEPS, Scene};
use crate::inputs::commit;
use std::path::Path;

#[test]
fn jobs_that_never_packed_are_collected_from_their_folders() {
    let scene = Scene::new();
    let whole = scene.collect(&["--dry-run"]);
    assert_eq!(
        whole.end(),
        (1, "failed"),
        "a dry run creates no store: {}",
        whole.stderr
    );
    let table = fs_err::read(scene.out("kernel_table.json.gz")).unwrap();
    for step in STEPS {
        let job = scene.job_id(step);
        let raw = scene.raw(&job);
        let raw: Vec<(&str, &Path)> = raw
            .iter()
            .map(|(path, file)| (path.as_str(), file.as_path()))
            .collect();
        scene.job(&job, step, &raw);
    }
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(
        (&ended.result["bundles"], &ended.result["raw_folders"]),
        (&0.into(), &3.into())
    );
    let raw_table = fs_err::read(scene.out("kernel_table.json.gz")).unwrap();
    assert_eq!(raw_table, table, "the same table as from the bundles");
}

#[test]
fn a_folder_is_downloaded_only_where_the_bundle_does_not_hold_it() {
    let scene = Scene::new();
    let job = scene.job_id("alpha");
    let bundle = scene.pack(&job);
    let name = format!(".kernrec/{}", bundle.file_name().unwrap().to_str().unwrap());
    let both = |more: &[(&str, &Path)]| {
        let raw = scene.raw(&job);
        let mut all: Vec<(&str, &Path)> = raw
            .iter()
            .map(|(path, file)| (path.as_str(), file.as_path()))
            .collect();
        all.push((&name, &bundle));
        all.extend(more);
        scene.job(&job, "alpha", &all);
    };
    both(&[]);
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.result["raw_folders"], 0);
    // A process that outlived the packing wrote a recording that the bundle does not have.
    let late = scene.path("late");
    fs_err::write(
        &late,
        "# kernrec v1 backend=cuda recorder=cupti pid=8 ppid=1 exe=/x\n_Z4latev\n",
    )
    .unwrap();
    both(&[(&format!(".kernrec/{job}/kern.8.txt"), &late)]);
    let ended = scene.collect(&["--store", "other"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.result["raw_folders"], 1);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (3, 2));
    assert_eq!(ended.count("kernels"), 4, "the name is not thrown away");
}

#[test]
fn the_same_upload_twice_is_one() {
    let scene = Scene::new();
    let job = scene.job_id("alpha");
    let bundle = scene.pack(&job);
    let name = bundle.file_name().unwrap().to_str().unwrap();
    let twice = [
        (format!(".kernrec/{name}"), bundle.as_path()),
        (format!(".kernrec/again/{name}"), bundle.as_path()),
    ];
    let twice: Vec<(&str, &Path)> = twice
        .iter()
        .map(|(path, file)| (path.as_str(), *file))
        .collect();
    scene.job(&job, "alpha", &twice);
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(
        (ended.count("usable_rows"), ended.count("delivered_jobs")),
        (3, 3)
    );
}

#[test]
fn the_first_attempt_counts_too() {
    let scene = Scene::new();
    scene.retried(&scene.job_id("alpha"));
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.count("rows"), 3);
}

#[test]
fn a_download_that_fails_is_tried_again() {
    let scene = Scene::new();
    scene.fail("artifact download", 2);
    scene.fail("artifact search .kernrec/* ", 1);
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.count("usable_rows"), 3);
    assert!(ended.lost().is_empty());
}

#[test]
fn what_never_arrives_leaves_its_step_alone_to_be_run() {
    let scene = Scene::new();
    let bundle = scene.pack(&scene.job_id("alpha"));
    scene.fail(bundle.file_name().unwrap().to_str().unwrap(), 99);
    let ended = scene.collect(&["--retries", "1"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.lost(), ["download-failed"]);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (2, 2));
    insta::with_settings!({filters => vec![(r"[0-9a-f]{64}", "[DIGEST]")]}, {
        insta::assert_snapshot!("lost", ended.annotation);
    });
}

#[test]
fn a_job_of_which_a_part_is_lost_is_not_usable_and_keeps_its_names() {
    let scene = Scene::new();
    let job = scene.job_id("alpha");
    let bundle = scene.pack(&job);
    let other = scene.path("other.tar.zst");
    fs_err::write(&other, "no bundle").unwrap();
    let name = format!(".kernrec/{}", bundle.file_name().unwrap().to_str().unwrap());
    scene.job(
        &job,
        "alpha",
        &[(&name, &bundle), (".kernrec/other.tar.zst", &other)],
    );
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.lost(), ["artifact-damaged"]);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (3, 2));
    assert_eq!(ended.result["folded"]["unusable"]["job-missing"], 1);
    assert_eq!(ended.count("kernels"), 3);
}

#[test]
fn what_is_cut_on_the_way_is_noticed() {
    let scene = Scene::new();
    fs_err::write(scene.path("agent/cut"), "").unwrap();
    let ended = scene.collect(&["--retries", "1"]);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.lost(), ["artifact-damaged"; 4]);
    assert_eq!(scene.published(), None);
}

#[test]
fn a_search_that_fails_takes_nothing_of_its_step() {
    let scene = Scene::new();
    // The other of the two searches would find a part of what the step's jobs left.
    scene.fail(
        "artifact search .kernrec/**/* --format %j\t%s\t%T\t%p\n --step beta",
        99,
    );
    let ended = scene.collect(&["--retries", "1"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.lost(), ["search-failed"]);
    assert_eq!(ended.count("rows"), 2);
}

#[test]
fn hostile_names_lead_nowhere() {
    let scene = Scene::new();
    let job = scene.job_id("alpha");
    let bundle = scene.pack(&job);
    let name = format!(".kernrec/{}", bundle.file_name().unwrap().to_str().unwrap());
    let evil = scene.path("evil");
    fs_err::write(&evil, "evil").unwrap();
    let hostile = [
        ".kernrec/../../../escaped/kern.1.txt",
        ".kernrec/x/../../../../escaped",
        ".kernrec/--build/kern.1.txt",
        ".kernrec/a*/kern.1.txt",
        ".kernrec/a b/kern.1.txt",
    ];
    let mut artifacts: Vec<(&str, &Path)> =
        hostile.iter().map(|path| (*path, evil.as_path())).collect();
    artifacts.push((&name, &bundle));
    scene.job(&job, "alpha", &artifacts);
    scene.job(
        "image",
        "image-build",
        &[
            ("../../kernel_symbol_map.json", &evil),
            ("kernel_symbol_map.json", &scene.build_file("map.json")),
        ],
    );
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.lost(), ["unsafe-name"; 6]);
    assert_eq!((ended.count("rows"), ended.count("usable_rows")), (3, 2));
    for place in [
        "escaped",
        "kernel_symbol_map.json",
        ".kernrec-collect/escaped",
    ] {
        assert!(!scene.path(place).exists(), "{place}");
    }
    let asked = scene.calls();
    for part in ["..", "a*", "a b", "--build"] {
        assert!(
            !asked.contains(&format!("artifact download .kernrec/{part}")),
            "{asked}"
        );
    }
}

#[test]
fn another_build_of_the_same_commit_is_collected_from() {
    let scene = Scene::elsewhere();
    scene.checked_out(&commit(1));
    let ended = scene.collect(&["--source-build", "source"]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(scene.published(), Some(1));
    assert!(
        ended.annotation.contains("collected from build `source`"),
        "{}",
        ended.annotation
    );
}

#[test]
fn a_build_of_another_commit_is_refused() {
    let scene = Scene::elsewhere();
    scene.checked_out(&commit(9));
    let ended = scene.collect(&["--source-build", "source"]);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.reasons(), ["source-build-differs"]);
    assert!(!scene.calls().contains("step get"), "nothing is waited for");
    // A build that notes no commit is known by its recordings.
    let scene = Scene::elsewhere();
    let mut command = scene.collector();
    command.args(["--source-build", "source", "--commit", &commit(9)]);
    let ended = scene.run(&mut command);
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.reasons(), ["source-build-differs"]);
    assert_eq!(scene.published(), None);
}

#[test]
fn a_whole_build_can_be_searched() {
    let scene = Scene::new();
    let collector = || {
        let mut command = crate::buildkite::collector(&scene.path(""));
        scene.environment(&mut command);
        command.args(["--map-step", "image-build"]);
        command
    };
    let ended = scene.run(&mut collector());
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.count("usable_rows"), 3);
    // Nobody knows the step of what is lost then.
    let bundle = scene.pack(&scene.job_id("alpha"));
    scene.fail(bundle.file_name().unwrap().to_str().unwrap(), 99);
    let ended = scene.run(collector().args(["--retries", "0"]));
    assert_eq!(ended.end(), (3, "refused"), "{}", ended.stderr);
    assert_eq!(ended.reasons(), ["artifacts-lost"]);
    let ended =
        scene.run(collector().args(["--retries", "0", "--allow-unreadable", "--store", "other"]));
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
}
