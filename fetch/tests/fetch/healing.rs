//! What was installed and is no longer what it was.

use crate::support::{World, assert_commit, names_in, overwrite};
use kernrec_fetch::Status;
use kernrec_schemas::Backend;

const TABLE: &str = "kernel_table.json.zst";

fn installed() -> World {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 1);
    world.fetch();
    world
}

#[test]
fn a_file_only_touched_is_read_once_and_remembered() {
    let world = installed();
    let path = world.folder().join(TABLE);
    overwrite(&path, &fs_err::read(&path).unwrap());
    let before = world.open().unwrap().record;
    let report = world.fetch();
    assert_eq!(
        (report.status, report.bytes_received),
        (Status::Unchanged, 0)
    );
    assert_eq!(report.damage, None);
    let after = world.open().unwrap().record;
    assert_ne!(before.files["table"].stored, after.files["table"].stored);
    assert_eq!(before.origin, after.origin);
}

#[test]
fn a_damaged_file_is_downloaded_again() {
    let world = installed();
    let path = world.folder().join(TABLE);
    let good = fs_err::read(&path).unwrap();
    overwrite(&path, &vec![0; good.len()]);
    assert_eq!(world.open().unwrap_err().reason(), "installed-damaged");
    let report = world.fetch();
    assert_eq!(report.status, Status::Healed);
    assert_eq!(report.damage.unwrap().reason, "installed-damaged");
    assert_eq!(fs_err::read(&path).unwrap(), good);
    assert_commit(&world.open().unwrap(), "aaaa");
    assert_eq!(world.fetch().status, Status::Unchanged);
}

#[test]
fn a_file_that_is_gone_is_downloaded_again() {
    for name in [TABLE, "kernel_symbol_map.json.zst", "record.json"] {
        let world = installed();
        fs_err::remove_file(world.folder().join(name)).unwrap();
        let error = world.open().unwrap_err();
        assert_eq!(error.reason(), "installed-damaged");
        assert!(!error.is_never_installed());
        assert_eq!(world.fetch().status, Status::Healed, "{name}");
        assert_commit(&world.open().unwrap(), "aaaa");
    }
}

#[test]
fn a_link_that_leads_nowhere_is_damage_and_heals() {
    let world = installed();
    fs_err::remove_dir_all(world.folder()).unwrap();
    let error = world.open().unwrap_err();
    assert_eq!(error.reason(), "installed-damaged");
    assert!(!error.is_never_installed());
    let report = world.fetch();
    assert_eq!(report.status, Status::Installed);
    assert_eq!(report.damage.unwrap().reason, "installed-damaged");
    assert_commit(&world.open().unwrap(), "aaaa");
}

#[test]
fn a_document_of_a_newer_version_is_named_and_replaced() {
    let world = installed();
    let path = world.folder().join("record.json");
    let text = fs_err::read_to_string(&path).unwrap();
    overwrite(&path, text.replace("installed/1", "installed/2").as_bytes());
    let error = world.open().unwrap_err();
    assert_eq!(error.reason(), "installed-version");
    assert!(error.to_string().contains("kernrec.installed/2"), "{error}");
    let report = world.fetch();
    assert_eq!(report.status, Status::Healed);
    assert_eq!(report.damage.unwrap().reason, "installed-version");
    assert_commit(&world.open().unwrap(), "aaaa");
}

#[test]
fn damage_that_cannot_be_healed_is_left_and_reported() {
    let world = installed();
    let path = world.folder().join(TABLE);
    overwrite(&path, b"rubbish");
    let digest = world_table_digest(&world);
    fs_err::remove_file(crate::support::object_path(&world, &digest)).unwrap();
    let report = world.fetch();
    assert_eq!(report.status, Status::Failed);
    assert_eq!(report.failure.unwrap().reason, "not-found");
    assert_eq!(fs_err::read(&path).unwrap(), b"rubbish");
}

fn world_table_digest(world: &World) -> kernrec_schemas::Digest {
    let bytes = fs_err::read(world.folder().join("record.json")).unwrap();
    let record = kernrec_schemas::installed::InstalledRecord::parse(&bytes).unwrap();
    record.files["table"].digest
}

#[test]
fn a_record_folder_that_nothing_links_is_taken_up_without_a_download() {
    let world = World::new();
    world.publish(Backend::Cuda, "aaaa", 1);
    world.fetch();
    // As a kill between the two renames leaves it.
    fs_err::remove_file(world.out.join("cuda")).unwrap();
    let report = world.fetch();
    assert_eq!(
        (report.status, report.bytes_received),
        (Status::Installed, 0)
    );
    assert_commit(&world.open().unwrap(), "aaaa");
}

#[test]
fn what_dead_fetchers_left_is_cleared_away() {
    let world = installed();
    let stale = world.out.join(".records/.staging-dead");
    fs_err::create_dir(&stale).unwrap();
    overwrite(&stale.join(TABLE), b"half");
    world.publish(Backend::Cuda, "bbbb", 2);
    world.fetch();
    assert_eq!(world.record_folders().len(), 1);
    assert!(!stale.exists());
    let mut names = names_in(&world.out);
    names.sort();
    assert_eq!(names, [".expected", ".lock", ".records", "cuda"]);
}

#[test]
fn a_copy_without_hidden_files_and_times_still_reads_and_is_completed() {
    let world = installed();
    fs_err::remove_file(world.folder().join(".hold")).unwrap();
    assert_commit(&world.open().unwrap(), "aaaa");
    overwrite(&world.folder().join(TABLE), b"rubbish");
    assert_eq!(world.fetch().status, Status::Healed);
    assert!(world.folder().join(".hold").is_file());
}
