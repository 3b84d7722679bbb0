//! What a store and a local folder hold, read by this test itself.

use kernrec_fetch::installed;
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, Pipeline};
use kernrec_store::{LocalStore, Store, objects, pointers};
use std::path::Path;

/// A published record that was read whole.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Published {
    pub(crate) build: u64,
    pub(crate) generation: u64,
    /// Records before the current one.
    pub(crate) past: usize,
}

/// Follows the pointer and reads everything it names, verified; `None` when nothing was published.
pub(crate) fn published(root: &Path) -> Option<Published> {
    let store = LocalStore::existing(root).ok()?;
    let pipeline = Pipeline::new("ci").unwrap();
    let found =
        pointers::read(&store, &pipeline, Backend::Cuda).expect("the pointer is readable")?;
    let pointer = found.pointer;
    let manifest = objects::read_bounded(&store, &pointer.current.manifest, 4 << 20);
    let manifest = RecordManifest::parse(&manifest.expect("the manifest is whole")).unwrap();
    let file = manifest.table().unwrap();
    let table = objects::read(&store, &file.digest, file.size).expect("the table is whole");
    let table = KernelTable::parse(&table).unwrap();
    for (_, file) in manifest.symbol_maps() {
        let map = objects::read(&store, &file.digest, file.size).expect("the map is whole");
        assert_eq!(SymbolMap::load(&map).unwrap().commit, table.source.commit);
    }
    for bundle in &manifest.bundles {
        let key = kernrec_store::Key::bundle(&bundle.digest);
        assert!(
            store.stat(&key).unwrap().is_some(),
            "a folded bundle is stored"
        );
    }
    assert_eq!(manifest.build, pointer.current.build);
    Some(Published {
        build: pointer.current.build.0,
        generation: pointer.generation.0,
        past: pointer.history.len(),
    })
}

/// The build of the pair that is installed, both halves of which agree; `None` when nothing is.
pub(crate) fn installed(out: &Path) -> Option<u64> {
    match installed::open(out, Backend::Cuda) {
        Ok(pair) => {
            for map in pair.maps.values() {
                assert_eq!(
                    map.commit, pair.table.source.commit,
                    "one record, never two halves"
                );
            }
            Some(pair.table.source.build.0)
        }
        Err(error) if error.is_never_installed() => None,
        Err(error) => panic!("what is installed is whole: {error}"),
    }
}

/// Copies a folder with its links as links.
pub(crate) fn copy(from: &Path, to: &Path) {
    let status = std::process::Command::new("cp")
        .arg("-a")
        .arg(from)
        .arg(to)
        .status()
        .unwrap();
    assert!(status.success());
}
