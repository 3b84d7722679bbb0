//! Which symbol maps are used.

use crate::buildkite::{IMAGE, Scene};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The build's map with a text in it replaced.
fn map_with(scene: &Scene, name: &str, from: &str, to: &str) -> PathBuf {
    let map = fs_err::read_to_string(scene.build_file("map.json")).unwrap();
    assert!(map.contains(from));
    let path = scene.path(name);
    fs_err::write(&path, map.replace(from, to)).unwrap();
    path
}

fn image(scene: &Scene, maps: &[(&str, &Path)]) {
    scene.job("image", IMAGE, maps);
}

#[test]
fn maps_are_found_by_name_in_any_folder_compressed_or_not() {
    let scene = Scene::new();
    let map = scene.build_file("map.json");
    for (name, program) in [
        ("out/kernel_symbol_map.json.gz", "gzip"),
        ("kernel_symbol_map.json.zst", ""),
    ] {
        let packed = scene.path("packed.map");
        let bytes = if program.is_empty() {
            zstd::encode_all(&fs_err::read(&map).unwrap()[..], 3).unwrap()
        } else {
            Command::new(program)
                .arg("-c")
                .arg(&map)
                .output()
                .unwrap()
                .stdout
        };
        fs_err::write(&packed, bytes).unwrap();
        image(&scene, &[(name, &packed)]);
        let ended = scene.collect(&["--store", &format!("store-{}", name.len())]);
        assert_eq!(ended.end(), (0, "published"), "{name}: {}", ended.stderr);
        let shown = ended.result["maps"][0].as_str().unwrap();
        assert_eq!(shown, format!("maps/image/{name}"));
    }
}

#[test]
fn the_map_of_the_other_backend_is_left_alone() {
    let scene = Scene::new();
    let ours = scene.build_file("map.json");
    let rocm = map_with(&scene, "rocm", r#""backend":"cuda""#, r#""backend":"rocm""#);
    image(
        &scene,
        &[
            ("kernel_symbol_map.json", &ours),
            ("kernel_symbol_map.rocm.json", &rocm),
        ],
    );
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.result["maps"].as_array().unwrap().len(), 1);
    image(&scene, &[("kernel_symbol_map.rocm.json", &rocm)]);
    let ended = scene.collect(&[]);
    assert_eq!(
        (ended.end(), ended.reasons()),
        ((3, "refused"), vec!["map-missing"])
    );
}

#[test]
fn variants_are_used_and_the_same_map_twice_is_one() {
    let scene = Scene::new();
    let ours = scene.build_file("map.json");
    let variant = map_with(
        &scene,
        "v",
        r#""version":2"#,
        r#""version":2,"variant":"cu12""#,
    );
    image(
        &scene,
        &[
            ("kernel_symbol_map.json", &ours),
            ("again/kernel_symbol_map.json", &ours),
            ("kernel_symbol_map.cu12.json", &variant),
        ],
    );
    let ended = scene.collect(&[]);
    assert_eq!(ended.end(), (0, "published"), "{}", ended.stderr);
    assert_eq!(ended.result["maps"].as_array().unwrap().len(), 2);
    let other = map_with(&scene, "o", "src/alpha.cu", "src/other.cu");
    image(
        &scene,
        &[
            ("a/kernel_symbol_map.json", &ours),
            ("b/kernel_symbol_map.json", &other),
        ],
    );
    let ended = scene.collect(&["--store", "other"]);
    assert_eq!(
        (ended.end(), ended.reasons()),
        ((3, "refused"), vec!["map-given-twice"])
    );
}

#[test]
fn a_map_of_another_commit_or_none_is_refused() {
    let scene = Scene::new();
    let own = crate::inputs::commit(1);
    let foreign = map_with(&scene, "f", &own, &crate::inputs::commit(7));
    image(&scene, &[("kernel_symbol_map.json", &foreign)]);
    let ended = scene.collect(&[]);
    assert_eq!(
        (ended.end(), ended.reasons()),
        ((3, "refused"), vec!["commit-mismatch"])
    );
    let broken = scene.path("broken");
    fs_err::write(&broken, "{").unwrap();
    image(&scene, &[("kernel_symbol_map.json", &broken)]);
    let ended = scene.collect(&[]);
    assert_eq!(
        (ended.end(), ended.reasons()),
        ((3, "refused"), vec!["map-missing"])
    );
    assert_eq!(ended.result["unreadable_maps"].as_array().unwrap().len(), 1);
    assert_eq!(scene.published(), None);
}
