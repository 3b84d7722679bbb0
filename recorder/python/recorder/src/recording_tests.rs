//! A recording from start to end, without an interpreter.

use crate::{Entered, Found, Loaded, ModuleFacts, Recorder, Recording, Setup, Trouble};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

fn setup(folder: &Path) -> Setup {
    Setup {
        folder: folder.to_owned(),
        host: "n1.example.org".to_owned(),
        roots: vec!["vllm".to_owned(), "aiter".to_owned()],
        checkout: Some("/co".to_owned()),
        standard_library: "/py/lib".to_owned(),
        tool: "4".to_owned(),
        version: "3.12.1".to_owned(),
        ..Setup::default()
    }
}

fn found(place: &str) -> Vec<Found> {
    vec![Found {
        name: "vllm".to_owned(),
        places: vec![place.to_owned()],
    }]
}

fn enter(recording: &mut Recording, file: &str, qualname: &str, line: u32, found: &[Found]) {
    if recording.entered(file, qualname, line) == Entered::UnknownFile {
        recording.meet(file, ModuleFacts::default(), found);
        assert_eq!(recording.entered(file, qualname, line), Entered::Noted);
    }
}

/// The texts of all recordings, in the order of their names.
fn texts(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs_err::read_dir(folder) else {
        return Vec::new();
    };
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let read = |path| fs_err::read_to_string(path).unwrap();
    paths.iter().map(read).collect()
}

fn functions(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with('#')).collect()
}

#[test]
fn nothing_is_written_before_something_is_watched_and_nothing_is_lost() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::new(Arc::new(setup(folder.path())));
    enter(&mut recording, "/s/vllm/version.py", "version", 1, &[]);
    recording.finish(&[]);
    assert!(texts(folder.path()).is_empty());

    enter(&mut recording, "/co/tests/a.py", "helper", 3, &[]);
    let text = texts(folder.path()).remove(0);
    assert_eq!(
        functions(&text),
        ["/co/tests/a.py\thelper\t3"],
        "a test alone counts"
    );

    enter(&mut recording, "/s/vllm/a.py", "f", 1, &found("/s/vllm/"));
    recording.finish(&[]);
    let text = texts(folder.path()).remove(0);
    let expected = [
        "/co/tests/a.py\thelper\t3",
        "/s/vllm/version.py\tversion\t1",
        "/s/vllm/a.py\tf\t1",
    ];
    assert_eq!(functions(&text), expected, "{text}");
    assert!(
        text.contains("#end\troot=2\ttests=1\tother=1\terrors=0\t"),
        "{text}"
    );
    assert!(text.contains("\n#tests\t/co/tests/\n"), "{text}");
}

#[test]
fn troubles_are_written_once_and_counted_each_time() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::new(Arc::new(setup(folder.path())));
    recording.trouble(Trouble::Unreadable);
    recording.trouble(Trouble::Unreadable);
    recording.write_now();
    recording.finish(&[]);
    let text = texts(folder.path()).remove(0);
    assert_eq!(text.matches("#error\tunreadable\n").count(), 1, "{text}");
    assert!(text.contains("errors=2\tlast_error=unreadable"), "{text}");
}

#[test]
fn a_name_that_no_line_can_hold_is_a_trouble() {
    for (file, qualname) in [
        ("/s/vllm/a\n.py", "f"),
        ("/s/vllm/a.py", "f\tg"),
        ("/s/vllm/\u{fffd}.py", "f"),
        ("/s/vllm/a.py", ""),
        ("/s/vllm/a.py", "#end"),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut recording = Recording::new(Arc::new(setup(folder.path())));
        enter(&mut recording, file, qualname, 1, &found("/s/vllm/"));
        let text = texts(folder.path()).remove(0);
        assert!(text.contains("#error\tinvalid_name\n"), "{text}");
        assert!(functions(&text).is_empty(), "{text}");
    }
}

#[test]
fn a_place_that_turns_up_after_everything_was_forgotten_is_a_trouble() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::new(Arc::new(setup(folder.path())));
    let mut both = found("/s/vllm/");
    both.push(Found {
        name: "aiter".to_owned(),
        places: vec!["/s/aiter/".to_owned()],
    });
    enter(&mut recording, "/s/vllm/a.py", "f", 1, &both);
    enter(&mut recording, "/p/vllm/b.py", "g", 1, &both);
    both[0].places.push("/p/vllm/".to_owned());
    enter(&mut recording, "/s/vllm/c.py", "h", 1, &both);
    let text = texts(folder.path()).remove(0);
    assert!(text.contains("#error\tlate_root\n"), "{text}");
}

#[test]
fn libraries_that_are_loaded_are_noted() {
    let folder = tempfile::tempdir().unwrap();
    let mut recording = Recording::new(Arc::new(setup(folder.path())));
    let module = |name: &str, file: &str| Loaded {
        name: name.to_owned(),
        file: file.to_owned(),
        untouched: true,
        executed: false,
    };
    let before = [module("torch", "/x/site-packages/torch/__init__.py")];
    recording.loaded_before(&before, &[]);
    enter(&mut recording, "/s/vllm/a.py", "f", 1, &found("/s/vllm/"));
    recording.finish(&[module("_cffi", "/x/site-packages/_cffi.abi3.so")]);
    let text = texts(folder.path()).remove(0);
    let packages: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("#pkg"))
        .collect();
    assert_eq!(packages, ["#pkg\ttorch", "#pkg\t_cffi"]);
}

#[test]
fn a_module_whose_body_ran_unseen_is_noted_and_a_trouble() {
    let module = |file: &str, executed: bool| Loaded {
        name: "vllm.m".to_owned(),
        file: file.to_owned(),
        untouched: false,
        executed,
    };
    for (loaded, unseen) in [
        (module("/s/vllm/a.py", true), false),
        (module("/s/vllm/b.py", true), true),
        (module("/s/vllm/b.py", false), false),
        (module("/s/vllm/b.so", true), false),
        (module("/s/other/b.py", true), false),
        (module("/co/tests/b.py", true), true),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let mut recording = Recording::new(Arc::new(setup(folder.path())));
        enter(
            &mut recording,
            "/s/vllm/a.py",
            "<module>",
            1,
            &found("/s/vllm/"),
        );
        recording.finish(std::slice::from_ref(&loaded));
        let text = texts(folder.path()).remove(0);
        assert_eq!(text.contains("#error\tunseen_code\n"), unseen, "{text}");
        let noted = functions(&text)
            .iter()
            .any(|line| line.starts_with(&loaded.file));
        assert_eq!(noted, unseen || loaded.file == "/s/vllm/a.py", "{text}");
    }
}

/// Runs `child` in a forked process and waits for it.
#[expect(unsafe_code, reason = "fork is a C interface")]
fn fork(child: impl FnOnce()) {
    // SAFETY: the child runs one thread, calls what the recorder's own code calls in a child, and leaves
    // without running anything of its parent's.
    unsafe {
        match libc::fork() {
            0 => {
                child();
                libc::_exit(0);
            }
            pid => {
                let mut status = 0;
                assert_eq!(libc::waitpid(pid, &raw mut status, 0), pid);
                assert_eq!(status, 0, "the child ended by itself");
            }
        }
    }
}

#[test]
fn a_child_forked_while_the_lock_is_held_starts_afresh_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let recorder = Recorder::new(setup(folder.path()));
    let roots = found("/s/vllm/");
    recorder.with(|recording| {
        enter(recording, "/s/vllm/a.py", "f", 1, &roots);
        // As if by another thread of the parent, which the child does not have.
        fork(|| {
            recorder.with(|recording| {
                enter(recording, "/s/vllm/b.py", "g", 1, &roots);
                recording.finish(&[]);
            });
        });
        enter(recording, "/s/vllm/c.py", "h", 1, &roots);
    });
    let mut texts = texts(folder.path());
    texts.sort_by_key(|text| text.contains("fork_with_held_lock"));
    assert_eq!(
        functions(&texts[0]),
        ["/s/vllm/a.py\tf\t1", "/s/vllm/c.py\th\t1"]
    );
    assert!(
        texts[1].contains("#error\tfork_with_held_lock\n"),
        "{}",
        texts[1]
    );
    assert_eq!(functions(&texts[1]), ["/s/vllm/b.py\tg\t1"]);
    assert!(texts[1].contains(&format!("\torigin=fork:{}\t", std::process::id())));
}

proptest! {
    /// Whatever the order of entries, packages and repeats: each function of a watched place stands once.
    #[test]
    fn every_function_of_a_watched_place_stands_once(
        entries in proptest::collection::vec((0..4_usize, 0..5_u32), 1..60),
        met_at in 0..60_usize,
    ) {
        let files = ["/s/vllm/a.py", "/co/tests/b.py", "/x/site-packages/lib/c.py", "/s/vllm/d/e.py"];
        let folder = tempfile::tempdir().unwrap();
        let mut recording = Recording::new(Arc::new(setup(folder.path())));
        let mut expected = BTreeSet::new();
        for (index, (file, line)) in entries.iter().enumerate() {
            let roots = if index >= met_at { found("/s/vllm/") } else { Vec::new() };
            enter(&mut recording, files[*file], "f", *line, &roots);
            if *file != 2 {
                expected.insert(format!("{}\tf\t{line}", files[*file]));
            }
        }
        recording.meet("/py/lib/last.py", ModuleFacts::default(), &found("/s/vllm/"));
        recording.finish(&[]);
        let text = texts(folder.path()).remove(0);
        let written = functions(&text);
        prop_assert_eq!(written.len(), expected.len());
        prop_assert_eq!(written.into_iter().map(str::to_owned).collect::<BTreeSet<_>>(), expected);
    }
}
