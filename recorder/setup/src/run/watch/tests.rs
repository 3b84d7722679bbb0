use super::*;
use std::fs::Permissions;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

/// A process table in a folder.
struct Table(tempfile::TempDir);

impl Table {
    fn new() -> Self {
        let table = Self(tempfile::tempdir().unwrap());
        for folder in ["world/k", "world/job", "world/other", "bare"] {
            fs_err::create_dir_all(table.0.path().join(folder)).unwrap();
        }
        fs_err::write(table.0.path().join("world/k/libkernrec_cupti.so"), "").unwrap();
        table
    }

    fn seen(&self) -> Seen {
        let watched = Watched {
            variable: "CUDA_INJECTION64_PATH",
            recorder: "libkernrec_cupti.so",
            folder_variable: "KERNREC_DIR",
            folder: self.0.path().join("world/job"),
            driver: "libcuda.so",
        };
        Seen::below(10, watched)
    }

    /// A process that sees another part of the file system.
    fn jailed(&self, pid: i32, root: &str, environment: &str, maps: &str) {
        self.process(pid, 10, environment, maps);
        let link = self.0.path().join(pid.to_string()).join("root");
        fs_err::remove_file(&link).unwrap();
        std::os::unix::fs::symlink(self.0.path().join(root), link).unwrap();
    }

    fn process(&self, pid: i32, parent: i32, environment: &str, maps: &str) {
        let folder = self.0.path().join(pid.to_string());
        fs_err::create_dir_all(&folder).unwrap();
        // A name made to mislead, and 17 fields before the start time.
        let filler = "0 ".repeat(17);
        let stat = format!("{pid} (a) S 1 (b) S {parent} {filler}{} 0", pid * 10);
        fs_err::write(folder.join("stat"), stat).unwrap();
        fs_err::write(folder.join("environ"), environment).unwrap();
        fs_err::write(folder.join("maps"), maps).unwrap();
        let root = folder.join("root");
        let _ = fs_err::remove_file(&root);
        std::os::unix::fs::symlink(self.0.path().join("world"), root).unwrap();
    }

    fn unrecorded(&self, seen: &mut Seen) -> usize {
        seen.look(self.0.path());
        seen.unrecorded.len()
    }
}

const RECORDED: &str = "A=b\0CUDA_INJECTION64_PATH=/k/libkernrec_cupti.so\0KERNREC_DIR=/job\0C=d\0";
const BARE: &str = "A=b\0";
const WITH_DRIVER: &str = "7f-80 r-xp 0 0:0 1 /usr/lib/libcuda.so.1\n";

#[test]
fn a_gpu_process_without_the_variable_is_counted_once() {
    let table = Table::new();
    table.process(10, 1, RECORDED, WITH_DRIVER);
    table.process(12, 11, BARE, WITH_DRIVER);
    table.process(13, 11, "", WITH_DRIVER);
    table.process(11, 10, RECORDED, "");
    let mut seen = table.seen();
    assert_eq!(table.unrecorded(&mut seen), 2);
    assert_eq!(table.unrecorded(&mut seen), 2);
}

#[test]
fn a_process_counts_from_when_it_has_the_driver() {
    let table = Table::new();
    table.process(10, 1, RECORDED, "");
    table.process(11, 10, BARE, "/usr/lib/libc.so.6\n");
    let mut seen = table.seen();
    assert_eq!(table.unrecorded(&mut seen), 0);
    // Its parent has ended meanwhile.
    table.process(11, 1, BARE, WITH_DRIVER);
    assert_eq!(table.unrecorded(&mut seen), 1);
}

#[test]
fn a_recorded_process_that_becomes_another_program_counts() {
    let table = Table::new();
    table.process(10, 1, RECORDED, WITH_DRIVER);
    let mut seen = table.seen();
    assert_eq!(table.unrecorded(&mut seen), 0);
    table.process(10, 1, BARE, WITH_DRIVER);
    assert_eq!(table.unrecorded(&mut seen), 1);
}

#[test]
fn others_and_recorded_processes_do_not_count() {
    let table = Table::new();
    table.process(10, 1, RECORDED, WITH_DRIVER);
    table.process(20, 1, BARE, WITH_DRIVER);
    table.process(
        11,
        10,
        BARE,
        &format!("{WITH_DRIVER}/k/libkernrec_cupti.so\n"),
    );
    table.process(12, 10, "", "");
    assert_eq!(table.unrecorded(&mut table.seen()), 0);
}

/// Programs that pass on only variables of some names, or that change the root, leave the recorder without its folder.
#[test]
fn a_recorder_that_writes_nowhere_or_elsewhere_records_nothing() {
    let both = format!("{WITH_DRIVER}/k/libkernrec_cupti.so\n");
    let without = "CUDA_INJECTION64_PATH=/k/libkernrec_cupti.so\0";
    let elsewhere = RECORDED.replace("=/job", "=/other");
    for (root, environment, maps) in [
        ("world", without, both.as_str()),
        ("world", &elsewhere, &both),
        ("bare", RECORDED, WITH_DRIVER),
    ] {
        let table = Table::new();
        table.process(10, 1, RECORDED, "");
        table.jailed(11, root, environment, maps);
        let mut seen = table.seen();
        assert_eq!(table.unrecorded(&mut seen), 1, "{root} {environment:?}");
    }
    // The folder is somebody's who lets nobody else write.
    let table = Table::new();
    table.process(10, 1, RECORDED, "");
    table.process(11, 10, RECORDED, WITH_DRIVER);
    let job = table.0.path().join("world/job");
    let is_root = fs_err::metadata(&job).unwrap().uid() == 0;
    let mode = if is_root { 0o755 } else { 0o555 };
    fs_err::set_permissions(&job, Permissions::from_mode(mode)).unwrap();
    if is_root {
        std::os::unix::fs::chown(table.0.path().join("11"), Some(65534), Some(65534)).unwrap();
    }
    assert_eq!(table.unrecorded(&mut table.seen()), 1);
    // Under another name it is the same folder.
    let table = Table::new();
    table.process(10, 1, RECORDED, "");
    let link = table.0.path().join("world/link");
    std::os::unix::fs::symlink("job", link).unwrap();
    table.process(11, 10, &RECORDED.replace("=/job", "=/link"), WITH_DRIVER);
    assert_eq!(table.unrecorded(&mut table.seen()), 0);
}

#[test]
fn the_machines_own_table_can_be_read() {
    let own = libc::pid_t::try_from(std::process::id()).unwrap();
    let processes = processes::all(Path::new("/proc"));
    assert!(processes.iter().any(|process| process.pid == own));
}
