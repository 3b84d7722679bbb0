//! Records that can be read and are refused all the same.

use crate::support::{Draft, World, assert_kept, kernel};
use kernrec_fetch::Status;
use kernrec_schemas::manifest::{Counts, FileRef};
use kernrec_schemas::{Backend, BuildNumber, Commit, Digest, RowBackend, Variant};

const CUDA: Backend = Backend::Cuda;

/// Publishes a good record, fetches it, publishes a changed one, and expects the refusal.
fn refused(reason_word: &str, change: impl FnOnce(&mut Draft)) {
    let world = World::new();
    world.publish(CUDA, "aaaa", 1);
    world.fetch();
    let mut draft = Draft::new(CUDA, "bbbb", 2);
    draft.parts.counts = Counts::of(&draft.table, draft.maps.values());
    change(&mut draft);
    world.publish_as_it_is(draft);
    let report = world.fetch();
    assert_kept(&world, &report, Status::Refused, reason_word, "aaaa");
    assert_eq!(world.record_folders().len(), 1, "nothing staged is left");
}

fn default_map(draft: &mut Draft) -> &mut kernrec_schemas::symbol_map::SymbolMap {
    draft.maps.get_mut(&Variant::default()).unwrap()
}

#[test]
fn documents_of_another_commit() {
    let other = || Some(Commit::new("cccc").unwrap());
    refused("commit-mismatch", |draft| {
        draft.table.source.commit = other();
    });
    refused("commit-mismatch", |draft| draft.table.source.commit = None);
    refused("commit-mismatch", |draft| {
        default_map(draft).commit = other();
    });
    refused("commit-mismatch", |draft| default_map(draft).commit = None);
}

#[test]
fn documents_of_another_backend() {
    refused("wrong-backend", |draft| {
        default_map(draft).backend = Backend::Rocm;
    });
    refused("wrong-backend", |draft| {
        for row in draft.table.rows.values_mut() {
            row.backend = RowBackend::Known(Backend::Rocm);
        }
    });
}

#[test]
fn a_table_without_a_usable_row() {
    refused("no-usable-row", |draft| {
        for row in draft.table.rows.values_mut() {
            row.passed = false;
        }
    });
}

#[test]
fn a_table_and_a_map_without_a_common_name() {
    refused("names-do-not-join", |draft| {
        default_map(draft).objects[0].symbols = vec![kernel("other")];
    });
}

#[test]
fn a_manifest_that_counts_something_else() {
    refused("counts-mismatch", |draft| {
        draft.parts.counts.usable_rows += 1;
    });
    refused("counts-mismatch", |draft| draft.parts.counts.symbols += 1);
    refused("counts-mismatch", |draft| draft.parts.counts.objects = 0);
}

#[test]
fn a_map_its_producer_declared_unusable() {
    refused("document-refused", |draft| {
        default_map(draft).reason = Some("no objects".to_owned());
    });
}

#[test]
fn a_map_filed_under_another_variant() {
    refused("variant-mismatch", |draft| {
        default_map(draft).variant = Variant::new("cuda12").unwrap();
    });
}

#[test]
fn a_usable_row_of_a_variant_without_a_map() {
    refused("variant-without-map", |draft| {
        for row in draft.table.rows.values_mut() {
            row.variants.insert(Variant::new("cuda12").unwrap());
        }
    });
}

#[test]
fn a_manifest_the_pointer_does_not_describe() {
    let world = World::new();
    let mut record = world.publish(CUDA, "aaaa", 1);
    world.fetch();
    record.build = BuildNumber(9);
    world.point_at(CUDA, &record);
    // The same manifest is installed, so nothing is downloaded, let alone compared; another folder has to.
    let out = world.dir.path().join("elsewhere");
    let report = world.one_with(|options| options.out = out.clone());
    assert_eq!(report.failure.unwrap().reason, "manifest-mismatch");
    assert!(!out.join("cuda").exists());
}

#[test]
fn a_file_that_claims_to_be_huge() {
    refused("document-refused", |draft| {
        let file = FileRef {
            digest: Digest::of(b"x"),
            size: 100 << 30,
            media_type: String::new(),
        };
        draft.parts.files.insert("table".to_owned(), file);
    });
}

#[test]
fn more_files_than_any_fleet_has() {
    refused("record-too-large", |draft| {
        for index in 0..65 {
            let file = FileRef {
                digest: Digest::of(b"x"),
                size: 1,
                media_type: String::new(),
            };
            let role = format!("symbol_map.v{index}");
            draft.parts.files.insert(role, file);
        }
    });
}

#[test]
fn files_of_other_kinds_are_left_to_others() {
    let world = World::new();
    let mut draft = Draft::new(CUDA, "aaaa", 1);
    let file = FileRef {
        digest: Digest::of(b"not stored"),
        size: 1,
        media_type: String::new(),
    };
    draft.parts.files.insert("later_kind".to_owned(), file);
    world.publish_draft(draft);
    assert_eq!(world.fetch().status, Status::Installed);
}

#[test]
fn a_pair_has_no_function_table() {
    refused("document-refused", |draft| {
        let file = FileRef {
            digest: Digest::of(b"not stored"),
            size: 1,
            media_type: String::new(),
        };
        draft.parts.files.insert("function_table".to_owned(), file);
    });
}
