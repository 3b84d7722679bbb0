//! Many publishers and fetchers at once, as processes.

use crate::inputs::{Build, fetcher};
use crate::state::{installed, published};
use kernrec_schemas::exit::Exit;
use std::process::{Child, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

const PUBLISHERS: u64 = 16;
const FETCHERS: usize = 16;

#[test]
fn the_newest_build_wins_and_no_fetcher_sees_a_mixed_pair() {
    let folder = tempfile::tempdir().unwrap();
    let (root, store) = (folder.path(), folder.path().join("store"));
    let builds: Vec<Build> = (1..=PUBLISHERS)
        .map(|number| Build::write(root, number))
        .collect();
    fs_err::create_dir(&store).unwrap();
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for reader in 0..FETCHERS {
            let (store, over) = (&store, &over);
            // Two fetchers share each folder, so that they also race for its lock and its link.
            let out = root.join(format!("out-{}", reader / 2));
            scope.spawn(move || {
                let mut newest = 0;
                while !over.load(Ordering::Acquire) {
                    let end = fetcher(store, &out).output().unwrap();
                    let code = end.status.code().unwrap();
                    let nothing_yet = code == i32::from(Exit::Refused.code());
                    let text = String::from_utf8_lossy(&end.stderr).into_owned();
                    assert!(code == 0 || nothing_yet, "fetch ended with {code}: {text}");
                    let build = installed(&out).unwrap_or(0);
                    assert!(
                        build >= newest,
                        "what is installed went back from {newest} to {build}"
                    );
                    newest = build;
                }
            });
        }
        let running: Vec<Child> = builds
            .iter()
            .rev()
            .map(|build| spawn(build, &store))
            .collect();
        for child in running {
            let output = child.wait_with_output().unwrap();
            let code = output.status.code().unwrap();
            let expected = [Exit::Done.code(), Exit::Superseded.code()].map(i32::from);
            let text = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(
                expected.contains(&code),
                "publish ended with {code}: {text}"
            );
        }
        over.store(true, Ordering::Release);
    });
    let end = published(&store).unwrap();
    assert_eq!(
        end.build, PUBLISHERS,
        "the pointer ends at the newest build"
    );
    assert_eq!(
        end.generation,
        end.past as u64 + 1,
        "every move counted once"
    );
    for shared in 0..FETCHERS / 2 {
        let out = root.join(format!("out-{shared}"));
        assert!(fetcher(&store, &out).output().unwrap().status.success());
        assert_eq!(installed(&out), Some(PUBLISHERS));
    }
}

fn spawn(build: &Build, store: &std::path::Path) -> Child {
    let mut command = build.publisher(store);
    // Every build launches its own kernels, so the gates that compare with the current record must not refuse.
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}
