//! Interpreters within interpreters, and within other programs.

use crate::bench::{Bench, ENGINE, assert_functions, text};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;
use std::path::Path;
use std::process::{Command, Output};

const SUBINTERPRETER: &str = "try:\n    import _interpreters as i\nexcept ImportError:\n    import _xxsubinterpreters as i\nsub = i.create()\ni.run_string(sub, 'import vllm; print(vllm.Engine().run(), flush=True)')\ni.destroy(sub)\n";

#[test]
fn a_subinterpreter_is_not_recorded_and_says_so() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(SUBINTERPRETER);
        let left = bench.one();
        assert!(left.has_error("subinterpreter"), "{}", left.text);
        assert_eq!(left.state, ProcessState::Error);
    }
}

#[test]
fn the_main_interpreter_is_recorded_beside_a_subinterpreter() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(&format!(
            "import vllm\n{SUBINTERPRETER}vllm.Engine().run()\n"
        ));
        let mut left = bench.left();
        left.sort_by_key(|left| left.functions.len());
        assert_eq!(left.len(), 2, "{left:#?}");
        assert!(left[0].has_error("subinterpreter"), "{}", left[0].text);
        assert_functions(&left[1], &ENGINE);
        assert_eq!(left[1].state, ProcessState::Clean, "{}", left[1].text);
    }
}

fn embed(bench: &Bench, python: &Path, lives: &[&str]) -> Output {
    let code = "import sysconfig as s, sys; print(s.get_config_var('LIBDIR') + '/' + s.get_config_var('LDLIBRARY'), sys.prefix)";
    let answer = pythons::ask(python, code);
    let (library, prefix) = answer.split_once(' ').unwrap();
    assert!(
        Path::new(library).is_file(),
        "{library} is not there: a Python built with a shared library is needed"
    );
    let mut command = Command::new(env!("CARGO_BIN_EXE_python-embedder"));
    command.arg(library).args(lives).env("PYTHONHOME", prefix);
    for (name, value) in bench.armed(&[]).get_envs() {
        if let Some(value) = value {
            command.env(name, value);
        }
    }
    command.current_dir(bench.base()).output().unwrap()
}

#[test]
fn an_embedded_interpreter_is_recorded() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        let output = embed(&bench, python, &["import vllm; print(vllm.Engine().run())"]);
        assert!(output.status.success(), "{output:?}");
        let left = bench.one();
        assert_functions(&left, &ENGINE);
        assert_eq!(left.state, ProcessState::Clean);
    }
}

#[test]
fn a_second_life_of_an_embedded_interpreter_is_not_recorded_and_says_so() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        let life = "import vllm; print(vllm.Engine().run())";
        let output = embed(&bench, python, &[life, life]);
        assert!(output.status.success(), "{output:?}");
        assert_eq!(text(&output.stdout), "[0, 1]\n[0, 1]\n");
        let mut left = bench.left();
        left.sort_by_key(|left| left.functions.len());
        assert_eq!(left.len(), 2, "{left:#?}");
        assert!(left[0].has_error("second_interpreter"), "{}", left[0].text);
        assert_eq!(left[1].state, ProcessState::Clean);
    }
}

#[test]
fn an_extension_that_cannot_be_loaded_leaves_a_word() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("host/_kernrec_python/_recorder.abi3.so", "no library");
        bench.run("import vllm\nprint(vllm.Engine().run())\n");
        assert!(bench.one().has_error("extension_not_loadable"));
    }
}
