//! Where the watched packages are, and where the recorder is.

use crate::bench::{Bench, ENGINE, extension, text};
use crate::pythons;
use kernrec_python_payload::{Layout, write};
use kernrec_schemas::recording::ProcessState;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A virtual environment with the recorder in its `site-packages`.
fn environment(bench: &Bench, python: &Path) -> PathBuf {
    let folder = bench.path("venv");
    let mut command = Command::new(python);
    command.args(["-m", "venv", "--without-pip"]).arg(&folder);
    assert!(command.status().unwrap().success());
    let site = pythons::ask(
        &folder.join("bin/python"),
        "import sysconfig; print(sysconfig.get_path('purelib'))",
    );
    let site = PathBuf::from(site);
    write(&site, Layout::SitePackages, &extension()).unwrap();
    site
}

fn run(bench: &Bench, path: Option<PathBuf>) {
    let mut command = Command::new(bench.path("venv/bin/python"));
    command
        .args([
            "-c",
            "import vllm, aiter.ops; print(vllm.Engine().run(), aiter.ops.gemm())",
        ])
        .current_dir(bench.path("venv"))
        .env("KERNREC_PYTHON_DIR", bench.path("out"))
        .env_remove("PYTHONPATH");
    if let Some(path) = path {
        command.env("PYTHONPATH", path);
    }
    let output = command.output().unwrap();
    assert_eq!(text(&output.stdout), "[0, 1] 1\n", "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

/// The functions of both packages, wherever the packages are.
#[track_caller]
fn assert_recorded(bench: &Bench, folder: &str) {
    let left = bench.one();
    assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    let aiter = [
        "src/aiter/__init__.py <module> 1",
        "src/aiter/ops.py <module> 1",
        "src/aiter/ops.py gemm 1",
    ];
    for function in ENGINE.into_iter().chain(aiter) {
        let function = function.replacen("src/", folder, 1);
        assert!(left.has(&function), "no {function} in {}", left.text);
    }
    assert_eq!(left.functions.len(), 10, "{}", left.text);
    let roots = left
        .text
        .lines()
        .filter(|line| line.starts_with("#root\t"))
        .count();
    assert_eq!(roots, 2, "{}", left.text);
}

#[test]
fn packages_in_site_packages() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        let site = environment(&bench, python);
        for package in ["vllm", "aiter"] {
            fs_err::rename(bench.path(&format!("src/{package}")), site.join(package)).unwrap();
        }
        run(&bench, None);
        let folder = site.strip_prefix(bench.base()).unwrap();
        assert_recorded(&bench, &format!("{}/", folder.display()));
    }
}

#[test]
fn packages_installed_as_editable_by_a_path_file() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        let site = environment(&bench, python);
        let line = format!("{}\n", bench.path("src").display());
        fs_err::write(site.join("__editable__.vllm-1.0.pth"), line).unwrap();
        run(&bench, None);
        assert_recorded(&bench, "src/");
    }
}

#[test]
fn packages_installed_as_editable_by_a_finder() {
    // As setuptools does: a finder with a table of packages, put at the end by a `.pth` file.
    let finder = "import sys\nfrom importlib.util import spec_from_file_location\nMAPPING = {'vllm': SRC + '/vllm', 'aiter': SRC + '/aiter'}\nclass Finder:\n    @classmethod\n    def find_spec(cls, name, path=None, target=None):\n        if name in MAPPING:\n            folder = MAPPING[name]\n            return spec_from_file_location(name, folder + '/__init__.py', submodule_search_locations=[folder])\ndef install():\n    sys.meta_path.append(Finder)\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        let site = environment(&bench, python);
        let finder = format!("SRC = {:?}\n{finder}", bench.path("src"));
        fs_err::write(site.join("__editable___finder.py"), finder).unwrap();
        let line = "import __editable___finder; __editable___finder.install()\n";
        fs_err::write(site.join("__editable__.vllm-1.0.pth"), line).unwrap();
        run(&bench, None);
        assert_recorded(&bench, "src/");
    }
}

#[test]
fn packages_of_a_source_checkout_reached_over_a_link() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        environment(&bench, python);
        fs_err::os::unix::fs::symlink(bench.path("src"), bench.path("link")).unwrap();
        run(&bench, Some(bench.path("link")));
        assert_recorded(&bench, "link/");
    }
}

#[test]
fn a_path_that_grows_during_the_first_import_is_followed() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file(
            "src/vllm/__init__.py",
            "import os\n__path__.append(os.path.join(os.path.dirname(os.path.dirname(os.path.dirname(__file__))), 'more'))\nfrom vllm import plugin\n",
        );
        bench.file("more/plugin.py", "def hook():\n    return 1\n");
        bench.run("import vllm\nprint(vllm.plugin.hook())\n");
        let left = bench.one();
        assert!(left.has("more/plugin.py hook 1"), "{}", left.text);
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    }
}

#[test]
fn what_was_entered_before_its_package_was_known_is_recorded_with_it() {
    // The file is run by its path, as set-up scripts do, before the package it belongs to is imported.
    let program =
        "import runpy, aiter\nrunpy.run_path('src/vllm/version.py')['version']()\nimport vllm\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("src/vllm/version.py", "def version():\n    return 1\n");
        bench.run(program);
        let left = bench.one();
        assert!(left.has("src/vllm/version.py version 1"), "{}", left.text);
        assert_eq!(left.state, ProcessState::Clean);
    }
}

#[test]
fn a_package_that_is_one_module_is_recorded() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        fs_err::remove_dir_all(bench.path("src/aiter")).unwrap();
        bench.file("src/aiter.py", "def gemm():\n    return 1\n");
        bench.run("import aiter\nprint(aiter.gemm())\n");
        assert!(bench.one().has("src/aiter.py gemm 1"));
    }
}

#[test]
fn compilations_cached_before_the_tree_was_moved_are_recorded_where_it_is() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        let mut compile = bench.plain(&[
            "-m",
            "compileall",
            "-q",
            "--invalidation-mode",
            "unchecked-hash",
            "src",
        ]);
        assert!(
            compile
                .env_remove("PYTHONDONTWRITEBYTECODE")
                .status()
                .unwrap()
                .success()
        );
        fs_err::rename(bench.path("src"), bench.path("moved")).unwrap();
        bench.file("main.py", "import vllm\nvllm.Engine().run()\n");
        let path = [bench.path("host"), bench.path("moved")];
        let mut command = bench.armed(&["main.py"]);
        command.env("PYTHONPATH", std::env::join_paths(path).unwrap());
        assert!(command.status().unwrap().success());
        let left = bench.one();
        assert!(
            left.has("moved/vllm/engine.py Engine.run 5"),
            "{}",
            left.text
        );
    }
}
