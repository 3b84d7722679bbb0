//! Maps of objects alone.

mod toolchain;

use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::{Backend, Variant};
use kernrec_symbols::{Labels, NO_SOURCES, ObjectsOptions, map_objects};
use std::path::PathBuf;
use tempfile::TempDir;
use toolchain::{compile_cuda, source};

fn map(objects: Vec<PathBuf>) -> SymbolMap {
    let labels = Labels {
        backend: Backend::Cuda,
        commit: None,
        variant: Variant::default(),
        generated_at: None,
    };
    map_objects(&ObjectsOptions { labels, objects })
}

#[test]
fn kernels_without_sources_can_be_shown_and_not_published() {
    let folder = TempDir::new().unwrap();
    let good = folder.path().join("good.o");
    compile_cuda(&source("cuda/extern_c.cu"), &good, &["-arch=sm_80"]);
    let bad = folder.path().join("bad.o");
    fs_err::write(&bad, "no object").unwrap();
    let map = map(vec![good.clone(), bad.clone()]);

    assert!(map.incomplete);
    assert_eq!(map.reason.as_deref(), Some(NO_SOURCES));
    map.accept().unwrap_err();
    assert_eq!(map.objects.len(), 2);
    assert_eq!(map.distinct_symbols(), 2);
    for object in &map.objects {
        assert_eq!(object.source, object.object);
        assert!(object.deps.is_empty());
    }
    assert_eq!(map.errors.len(), 1);
    assert_eq!(map.errors[0].object.as_deref(), bad.to_str());
    assert_eq!(
        SymbolMap::parse(&map.to_canonical())
            .unwrap()
            .distinct_symbols(),
        2
    );
}
