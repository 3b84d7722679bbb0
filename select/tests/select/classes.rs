//! What a changed file is worth, class by class, and how its path is read.

use crate::common::{ask_one, cuda, map, object, pair};
use kernrec_schemas::Backend;
use kernrec_schemas::symbol_map::MapError;
use kernrec_select::{Cause, Change, ChangeError, FileClass, FileSeen, Pair};

fn seen(pair: Pair, file: &str) -> FileSeen {
    ask_one(pair, &[file]).files[0].seen[0].clone()
}

fn class(pair: Pair, file: &str) -> (FileClass, Vec<Cause>) {
    let seen = seen(pair, file);
    (seen.class, seen.causes)
}

const MAY_DROP: (FileClass, Vec<Cause>) = (FileClass::FileMayDrop, Vec::new());

fn only_selects(causes: &[Cause]) -> (FileClass, Vec<Cause>) {
    (FileClass::FileMayOnlySelect, causes.to_vec())
}

#[test]
fn a_source_with_launched_kernels_may_drop_and_so_may_its_header() {
    assert_eq!(class(cuda(), "a.cu"), MAY_DROP);
    assert_eq!(class(cuda(), "a.cuh"), MAY_DROP);
}

#[test]
fn a_file_in_no_object_is_not_in_the_map() {
    assert_eq!(class(cuda(), "c.cu").0, FileClass::FileNotInMap);
    assert_eq!(
        class(cuda(), "A.cu").0,
        FileClass::FileNotInMap,
        "names are compared exactly"
    );
}

#[test]
fn a_header_unites_the_kernels_of_every_object_that_includes_it() {
    let mut pair = cuda();
    for object in &mut pair.maps[0].objects {
        object.deps.push("both.cuh".into());
    }
    let seen = seen(pair, "both.cuh");
    assert_eq!(
        (
            seen.objects,
            seen.kernels,
            seen.launched_kernels,
            seen.steps.len()
        ),
        (2, 2, 2, 2)
    );
}

#[test]
fn an_object_without_symbols_makes_its_files_host_code_whatever_its_device_flag() {
    for device in [true, false] {
        let mut pair = cuda();
        let mut host = object("main.cpp", &[], &["a.cuh"]);
        host.device = device;
        pair.maps[0].objects.push(host);
        assert_eq!(
            class(pair.clone(), "a.cuh"),
            only_selects(&[Cause::HostCode])
        );
        assert_eq!(
            class(pair.clone(), "main.cpp"),
            only_selects(&[Cause::HostCode, Cause::NoKernel])
        );
        assert_eq!(
            class(pair, "a.cu"),
            MAY_DROP,
            "the source is not the header"
        );
    }
}

#[test]
fn symbols_count_where_the_device_flag_denies_them() {
    let mut pair = cuda();
    pair.maps[0].objects[0].device = false;
    assert_eq!(class(pair, "a.cu"), MAY_DROP);
}

#[test]
fn an_incomplete_map_clears_no_file() {
    let mut pair = cuda();
    pair.maps[0].incomplete = true;
    assert_eq!(class(pair, "a.cu"), only_selects(&[Cause::MapIncomplete]));
}

#[test]
fn one_incomplete_map_of_two_variants_clears_no_file() {
    let mut pair = cuda();
    let mut other = map(Backend::Cuda, vec![object("z.cu", &["kz"], &[])]);
    other.incomplete = true;
    pair.maps.push(other);
    assert_eq!(class(pair, "a.cu"), only_selects(&[Cause::MapIncomplete]));
}

#[test]
fn an_unreadable_object_clears_none_of_its_files_and_no_other() {
    let mut pair = cuda();
    pair.maps[0].objects[0].error = Some("truncated".to_owned());
    assert_eq!(
        class(pair.clone(), "a.cuh"),
        only_selects(&[Cause::UnreadableObject])
    );
    assert_eq!(class(pair, "b.cu"), MAY_DROP);
}

fn error(object: Option<&str>, source: Option<&str>) -> MapError {
    let text = |text: &str| text.to_owned();
    MapError {
        object: object.map(text),
        source: source.map(text),
        error: "truncated".to_owned(),
    }
}

#[test]
fn an_error_in_the_map_spoils_the_object_it_names() {
    for named in [
        error(Some("a.cu.o"), None),
        error(Some("a.cu.o"), Some("a.cu")),
        error(None, Some("a.cu")),
    ] {
        let mut pair = cuda();
        pair.maps[0].errors = vec![named];
        assert_eq!(
            class(pair.clone(), "a.cu"),
            only_selects(&[Cause::UnreadableObject])
        );
        assert_eq!(class(pair, "b.cu"), MAY_DROP);
    }
}

#[test]
fn an_error_that_names_no_listed_object_spoils_the_whole_map() {
    for unplaced in [
        error(None, None),
        error(Some("gone.o"), None),
        error(Some("gone.o"), Some("a.cu")),
    ] {
        let mut pair = cuda();
        pair.maps[0].errors = vec![unplaced];
        assert_eq!(class(pair, "b.cu"), only_selects(&[Cause::MapIncomplete]));
    }
}

#[test]
fn a_kernel_that_nobody_launched_is_no_evidence() {
    let mut pair = cuda();
    pair.maps[0].objects.push(object("c.cu", &["kc"], &[]));
    assert_eq!(class(pair.clone(), "c.cu").0, FileClass::FileNeverObserved);
    pair.maps[0].objects[2].deps.push("a.cuh".into());
    assert_eq!(
        class(pair, "a.cuh"),
        MAY_DROP,
        "one launched kernel of the file is enough"
    );
}

#[test]
fn a_row_of_another_backend_observes_nothing() {
    let mut pair = pair(Backend::Rocm);
    let row = crate::common::row_of(&mut pair, "runs-a");
    row.backend = kernrec_schemas::RowBackend::Known(Backend::Cuda);
    assert_eq!(class(pair, "a.cu").0, FileClass::FileNeverObserved);
}

#[test]
fn spellings_of_one_path_are_one_file() {
    for spelling in ["a.cu", "./a.cu", "././a.cu", ".//a.cu"] {
        assert_eq!(class(cuda(), spelling), MAY_DROP, "{spelling}");
    }
    let change = Change::of_files(["./a.cu", "a.cu", "src//x.cu", "src/./x.cu"]).unwrap();
    let files: Vec<&str> = change.files().map(|file| file.path.as_str()).collect();
    assert_eq!(files, ["a.cu", "src/x.cu"]);
}

#[test]
fn absolute_paths_are_compared_as_they_are() {
    let mut pair = cuda();
    pair.maps[0].objects[0].deps.push("/opt/lib/half.h".into());
    assert_eq!(class(pair.clone(), "/opt/lib/half.h"), MAY_DROP);
    assert_eq!(
        class(pair.clone(), "opt/lib/half.h").0,
        FileClass::FileNotInMap
    );
    assert_eq!(class(pair, "/a.cu").0, FileClass::FileNotInMap);
}

#[test]
fn odd_spellings_inside_a_map_hide_no_object() {
    let mut pair = cuda();
    pair.maps[0].objects[0].deps.push("src/one.cuh".into());
    pair.maps[0].objects[1]
        .deps
        .push("src/sub/../one.cuh".into());
    pair.maps[0]
        .objects
        .push(object("c.cu", &["kc"], &["./src/one.cuh"]));
    assert_eq!(seen(pair, "src/one.cuh").kernels, 3);
}

#[test]
fn paths_that_cannot_be_judged_are_refused() {
    let refused = |path: &str| Change::of_files([path]).unwrap_err();
    for path in ["../a.cu", "src/../a.cu", "/src/..", ".."] {
        assert_eq!(
            refused(path),
            ChangeError::ParentComponent {
                path: path.to_owned()
            }
        );
    }
    for path in ["", ".", "./", "/"] {
        assert_eq!(
            refused(path),
            ChangeError::NoFile {
                path: path.to_owned()
            }
        );
    }
    assert_eq!(
        Change::of_files(Vec::<&str>::new()).unwrap_err(),
        ChangeError::Nothing
    );
    Change::of_files(["a..cu", "..a/b.cu"]).unwrap();
}

#[test]
fn a_file_that_some_object_knows_under_another_kind_of_path_may_only_select() {
    for spelled in [
        "/build/csrc/a.cuh",
        "../project/csrc/a.cuh",
        "build/../../project/csrc/a.cuh",
        "../a.cuh",
    ] {
        let mut pair = cuda();
        pair.maps = vec![map(
            Backend::Cuda,
            vec![
                object("a.cu", &["a"], &["csrc/a.cuh"]),
                object("b.cu", &["b"], &[spelled]),
            ],
        )];
        let seen = seen(pair, "csrc/a.cuh");
        assert_eq!(seen.causes, [Cause::AmbiguousPath], "{spelled}");
        assert_eq!(seen.kernels, 2, "`{spelled}`: its launches select");
        assert_eq!(seen.objects, 1, "{spelled}");
    }
}

#[test]
fn an_absolute_path_is_compared_with_the_ends_of_relative_ones() {
    let mut pair = cuda();
    pair.maps = vec![map(
        Backend::Cuda,
        vec![
            object("a.cu", &["a"], &["/build/csrc/a.cuh"]),
            object("b.cu", &["b"], &["csrc/a.cuh"]),
        ],
    )];
    let seen = seen(pair, "/build/csrc/a.cuh");
    assert_eq!((seen.causes, seen.kernels), (vec![Cause::AmbiguousPath], 2));
}

#[test]
fn a_path_that_only_ends_in_part_of_a_name_the_same_is_another_file() {
    let mut pair = cuda();
    let objects = &mut pair.maps[0].objects;
    objects[1].deps.push("/usr/include/xa.cuh".into());
    objects[1].deps.push("other/a.cuh".into());
    assert_eq!(class(pair, "a.cuh"), MAY_DROP);
}

#[test]
fn above_the_root_is_the_root() {
    let mut pair = cuda();
    pair.maps[0].objects[0].deps.push("/opt/h.cuh".into());
    pair.maps[0].objects[1].deps.push("/../opt/h.cuh".into());
    let seen = seen(pair, "/opt/h.cuh");
    assert_eq!((seen.objects, seen.kernels), (2, 2));
}

#[test]
fn an_object_is_found_by_the_source_it_was_really_compiled_from() {
    let mut pair = cuda();
    pair.maps[0].objects[1].compiled_source = Some("a.cuh".to_owned());
    assert_eq!(seen(pair, "a.cuh").kernels, 2);
}

#[test]
fn an_object_that_does_not_list_its_own_source_may_use_any_file() {
    for deps in [vec![], vec!["b.cuh".into()]] {
        let mut pair = cuda();
        pair.maps[0].objects[1].deps = deps;
        assert_eq!(class(pair, "a.cu"), only_selects(&[Cause::MapIncomplete]));
    }
    let mut odd = cuda();
    odd.maps[0].objects[1].deps = vec!["./b.cu".into()];
    assert_eq!(class(odd, "a.cu"), MAY_DROP);
}
