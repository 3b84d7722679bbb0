//! A project in a folder of its own, and its map.

#![allow(dead_code, reason = "each test binary uses its own part")]
#![allow(clippy::unwrap_used, reason = "a test that cannot set itself up fails")]

use crate::toolchain::{run, tool};
use kernrec_schemas::symbol_map::{MapObject, SymbolMap};
use kernrec_schemas::{Backend, Commit, Variant};
use kernrec_symbols::{BuildOptions, Labels, map_build};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use tempfile::TempDir;

pub(crate) struct Project {
    folder: TempDir,
    backend: Backend,
}

impl Project {
    pub(crate) fn new(backend: Backend) -> Self {
        let project = Self {
            folder: TempDir::new().unwrap(),
            backend,
        };
        fs_err::create_dir_all(project.build()).unwrap();
        project
    }

    /// One host source and its header, with a build file.
    pub(crate) fn host() -> Self {
        let project = Self::new(Backend::Cuda);
        project.write("a.h", "#define A 1\n");
        project.write("a.cpp", "#include \"a.h\"\nint a() { return A; }\n");
        project.write(
            "build/build.ninja",
            "rule cxx\n  command = g++ -MD -MF $out.d -c $in -o $out\n  depfile = $out.d\n  deps = gcc\nbuild a.o: cxx ../a.cpp\n",
        );
        project
    }

    pub(crate) fn root(&self) -> PathBuf {
        self.folder.path().to_owned()
    }

    pub(crate) fn build(&self) -> PathBuf {
        self.folder.path().join("build")
    }

    pub(crate) fn write(&self, name: &str, content: &str) {
        let path = self.folder.path().join(name);
        fs_err::create_dir_all(path.parent().unwrap()).unwrap();
        fs_err::write(path, content).unwrap();
    }

    /// Replaces a file's content and keeps its time, as damage does.
    pub(crate) fn rewrite(&self, name: &str, content: &[u8]) {
        let path = self.folder.path().join(name);
        let time = fs_err::metadata(&path).unwrap().modified().unwrap();
        fs_err::write(&path, content).unwrap();
        set_time(&path, time);
    }

    /// Makes a file newer than everything that was built.
    pub(crate) fn touch(&self, name: &str) {
        set_time(
            &self.folder.path().join(name),
            SystemTime::now() + Duration::from_mins(1),
        );
    }

    /// Makes a file older than everything that was built.
    pub(crate) fn age(&self, name: &str) {
        set_time(&self.folder.path().join(name), SystemTime::UNIX_EPOCH);
    }

    pub(crate) fn ninja(&self) {
        run(tool("ninja").arg("-C").arg(self.build()));
    }

    pub(crate) fn map(&self) -> SymbolMap {
        map_build(&self.options(false))
    }

    /// The map of the project whose root goes by another path.
    pub(crate) fn map_from(&self, root: &Path) -> SymbolMap {
        map_build(&BuildOptions {
            build_roots: vec![root.join("build")],
            source_root: root.to_owned(),
            ..self.options(false)
        })
    }

    pub(crate) fn partial_map(&self) -> SymbolMap {
        map_build(&self.options(true))
    }

    fn options(&self, partial: bool) -> BuildOptions {
        let labels = Labels {
            backend: self.backend,
            commit: Some(Commit::new("c0de").unwrap()),
            variant: Variant::default(),
            generated_at: None,
        };
        BuildOptions {
            labels,
            build_roots: vec![self.build()],
            source_root: self.root(),
            partial,
        }
    }
}

fn set_time(path: &Path, time: SystemTime) {
    let file = fs_err::OpenOptions::new().append(true).open(path).unwrap();
    file.file().set_modified(time).unwrap();
}

/// The entry of a source.
pub(crate) fn object<'a>(map: &'a SymbolMap, source: &str) -> &'a MapObject {
    let found = map.objects.iter().find(|object| object.source == source);
    found.unwrap_or_else(|| panic!("no {source} in {:#?}", map.objects))
}

pub(crate) fn symbols(object: &MapObject) -> Vec<&str> {
    object
        .symbols
        .iter()
        .map(kernrec_schemas::KernelName::as_str)
        .collect()
}
