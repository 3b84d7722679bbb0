//! When recording starts, and that nothing is felt until then.

use crate::bench::{Bench, ENGINE, assert_functions, text};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;

#[test]
fn entered_functions_are_recorded_and_others_are_not() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import mylib, vllm\nmylib.help()\nprint(vllm.Engine().run())\n");
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
        assert_functions(&left, &ENGINE);
        assert!(left.packages.contains("mylib"), "{}", left.text);
        assert!(
            !left.packages.contains("json"),
            "the standard library is no package"
        );
        assert!(!left.packages.contains("_kernrec_python"), "{}", left.text);
    }
}

#[test]
fn a_process_of_aiter_alone_is_recorded() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import aiter.ops\naiter.ops.gemm()\n");
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean);
        assert_functions(
            &left,
            &[
                "src/aiter/__init__.py <module> 1",
                "src/aiter/ops.py <module> 1",
                "src/aiter/ops.py gemm 1",
            ],
        );
    }
}

#[test]
fn a_process_that_imports_no_watched_package_leaves_nothing() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import json, sys\nprint(json.dumps(1), sys.monitoring.get_tool(4))\n");
        assert!(bench.left().is_empty());
    }
}

#[test]
fn looking_for_a_package_that_is_not_there_leaves_nothing() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        fs_err::remove_dir_all(bench.path("src/aiter")).unwrap();
        bench.run("import importlib.util\nprint(importlib.util.find_spec('aiter'))\n");
        assert!(bench.left().is_empty());
    }
}

#[test]
fn the_watched_names_can_be_given() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("main.py", "import vllm, mylib\nmylib.help()\n");
        let mut command = bench.armed(&["main.py"]);
        command.env("KERNREC_PYTHON_ROOTS", "mylib, nothing");
        assert!(command.status().unwrap().success());
        let left = bench.one();
        assert_functions(
            &left,
            &[
                "src/mylib/__init__.py <module> 1",
                "src/mylib/__init__.py help 1",
            ],
        );
        assert!(left.packages.contains("vllm"), "{}", left.text);
    }
}

#[test]
fn an_interpreter_that_is_not_armed_holds_nothing_of_the_recorder() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        let code =
            "import sys\nprint([n for n in sys.modules if 'kernrec' in n], len(sys.meta_path))";
        let plain = bench.plain(&["-c", code]).output().unwrap();
        let host = bench
            .armed(&["-c", code])
            .env_remove("KERNREC_PYTHON_DIR")
            .output()
            .unwrap();
        assert_eq!(text(&plain.stdout), text(&host.stdout));
    }
}

#[test]
fn a_python_that_cannot_be_recorded_is_left_alone() {
    for python in pythons::too_old() {
        let bench = Bench::new(&python);
        bench.file("src/old.py", "def f(): return 1\n");
        bench.file(
            "src/sitecustomize.py",
            "import sys\nsys.customized = 'it ran'\n",
        );
        let program = "import sys, old\nprint((old.f(), len(sys.meta_path), sys.customized))\n";
        bench.file("main.py", program);
        let watched = ("KERNREC_PYTHON_ROOTS", "old");
        let plain = bench.plain(&["main.py"]).output().unwrap();
        let armed = bench
            .armed(&["main.py"])
            .env(watched.0, watched.1)
            .output()
            .unwrap();
        assert!(plain.status.success(), "{plain:?}");
        assert_eq!(
            text(&plain.stdout),
            text(&armed.stdout),
            "{}",
            python.display()
        );
        assert_eq!(text(&armed.stderr), "", "{}", python.display());
        assert!(!bench.path("out").exists());
    }
}

#[test]
fn the_sitecustomize_that_is_stood_before_runs() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file(
            "src/sitecustomize.py",
            "import builtins\nbuiltins.customized = __file__\n",
        );
        bench.run("import sys\nprint(customized, sys.modules['sitecustomize'].__file__)\n");
    }
}

#[test]
fn a_package_found_by_a_finder_that_comes_first_is_recorded_or_known_to_be_late() {
    let finder = "import sys\nfrom importlib.machinery import PathFinder\nclass First:\n    def find_spec(self, name, path=None, target=None):\n        return PathFinder.find_spec(name, path) if name.startswith(('vllm', 'mylib')) else None\nsys.meta_path.insert(0, First())\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        // Nothing else is imported in between, so nothing tells the recorder before the process ends.
        bench.run(&format!("{finder}import vllm\nvllm.Engine().run()\n"));
        let left = bench.one();
        assert!(left.has_error("late_start"), "{}", left.text);

        let bench = Bench::new(python);
        bench.run(&format!(
            "{finder}import aiter, vllm\nvllm.Engine().run()\n"
        ));
        assert!(bench.one().has("src/vllm/engine.py Engine.run 5"));
    }
}

#[test]
fn functions_that_run_already_are_recorded_too() {
    let helper = "def load():\n    import vllm.worker\n    return vllm.worker.work()\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("checkout/tests/helper.py", helper);
        bench.file(
            "checkout/tests/run.py",
            "import helper\nprint(helper.load())\n",
        );
        let mut command = bench.armed(&["checkout/tests/run.py"]);
        command.env("KERNREC_PYTHON_CHECKOUT", bench.path("checkout"));
        assert!(command.status().unwrap().success());
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
        for function in [
            "checkout/tests/run.py <module> 1",
            "checkout/tests/helper.py <module> 1",
            "checkout/tests/helper.py load 1",
            "src/vllm/worker.py work 1",
        ] {
            assert!(left.has(function), "{function}: {}", left.text);
        }
    }
}

#[test]
fn tests_that_ran_before_anything_was_watched_spoil_the_recording() {
    let setup = "import sys\nsys.path.insert(0, 'checkout/tests')\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("checkout/tests/helper.py", "def f():\n    pass\nf()\n");
        bench.file("main.py", &format!("{setup}import helper\nimport vllm\n"));
        let mut command = bench.armed(&["main.py"]);
        command.env("KERNREC_PYTHON_CHECKOUT", bench.path("checkout"));
        assert!(command.status().unwrap().success());
        assert!(bench.one().has_error("tests_before_start"));
    }
}

#[test]
fn the_header_holds_allowed_variables_and_no_secret() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("main.py", "import vllm\n");
        let mut command = bench.armed(&["main.py", "--token", "hunter2", "--key=hunter2"]);
        command
            .env("BUILDKITE_STEP_KEY", "demo")
            .env("BUILDKITE_LABEL", "a\tlabel\nof two lines")
            .env("VLLM_ROCM_USE_AITER", "1")
            .env("VLLM_ROCM_USE_AITER_TOKEN", "hunter2")
            .env("HF_TOKEN", "hunter2");
        assert!(command.status().unwrap().success());
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean);
        assert!(!left.text.contains("hunter2"), "{}", left.text);
        let header = left.text.lines().next().unwrap();
        for field in [
            "BUILDKITE_STEP_KEY=demo",
            "BUILDKITE_LABEL=a%09label%0Aof two lines",
            "VLLM_ROCM_USE_AITER=1",
            "argv=main.py --token *** --key=***",
            "origin=import",
            "root_env=vllm,aiter",
        ] {
            assert!(header.split('\t').any(|other| other == field), "{header}");
        }
    }
}
