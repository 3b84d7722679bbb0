//! Other tools of `sys.monitoring`, and programs that take the recorder's place.

use crate::bench::{Bench, ENGINE, assert_functions, text};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;

#[test]
fn without_a_free_tool_id_the_recording_says_so() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import sys\nfor i in (3, 4): sys.monitoring.use_tool_id(i, 'other')\nimport vllm\nprint(vllm.Engine().run(), sys.monitoring.get_tool(4))\n");
        let left = bench.one();
        assert!(left.has_error("no_tool_id"), "{}", left.text);
        assert_eq!(left.state, ProcessState::Error);
    }
}

#[test]
fn one_free_tool_id_is_enough() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import sys\nsys.monitoring.use_tool_id(4, 'other')\nimport vllm\nprint(vllm.Engine().run())\n");
        let left = bench.one();
        assert_functions(&left, &ENGINE);
        assert_eq!(left.state, ProcessState::Clean);
    }
}

#[test]
fn the_ids_of_debuggers_coverage_profilers_and_optimizers_stay_free() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import sys, vllm\nm = sys.monitoring\nfor i in (m.DEBUGGER_ID, m.COVERAGE_ID, m.PROFILER_ID, m.OPTIMIZER_ID): m.use_tool_id(i, 'own')\nseen = []\nm.register_callback(1, m.events.PY_START, lambda c, o: seen.append(c.co_name))\nm.set_events(1, m.events.PY_START)\nvllm.Engine().run()\nm.set_events(1, 0)\nprint([n for n in seen if n in ('run', 'inner', 'steps')])\nm.restart_events()\nvllm.Engine().run()\n");
        let left = bench.one();
        assert_functions(&left, &ENGINE);
        assert_eq!(left.state, ProcessState::Clean);
        let lines = left
            .text
            .lines()
            .filter(|line| line.contains("Engine.run\t"))
            .count();
        assert_eq!(lines, 1, "events that another tool starts again");
    }
}

#[test]
fn a_tracer_and_a_profiler_see_what_they_would() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import sys, vllm\nseen = []\ndef trace(frame, event, arg):\n    seen.append((event, frame.f_code.co_name)); return trace\nsys.settrace(trace)\nvllm.Engine().run()\nsys.settrace(None)\nsys.setprofile(lambda frame, event, arg: seen.append((event, frame.f_code.co_name)))\nvllm.Engine().run()\nsys.setprofile(None)\nprint(seen)\n");
        let left = bench.one();
        assert_functions(&left, &ENGINE);
        assert_eq!(left.state, ProcessState::Clean);
    }
}

#[test]
fn a_program_that_takes_the_tool_away_is_found_out() {
    let take = "import sys, vllm\nm = sys.monitoring\n";
    for python in pythons::recorded() {
        for how in [
            "if m.get_tool(4) == 'kernrec': m.free_tool_id(4)",
            "if m.get_tool(4) == 'kernrec': m.set_events(4, 0)",
            "if m.get_tool(4) == 'kernrec': m.register_callback(4, m.events.PY_START, None)",
            "if m.get_tool(4) == 'kernrec':\n    m.free_tool_id(4)\n    m.use_tool_id(4, 'other')",
        ] {
            let bench = Bench::new(python);
            bench.run(&format!("{take}{how}\nprint(vllm.Engine().run())\n"));
            let left = bench.one();
            assert!(left.has_error("tool_taken"), "{how}: {}", left.text);
            assert_eq!(left.state, ProcessState::Error, "{how}");
        }
    }
}

#[test]
fn a_program_that_empties_its_modules_is_still_recorded() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import sys, vllm\nfor name in list(sys.modules):\n    if name.startswith(('vllm', '_kernrec')): del sys.modules[name]\nimport vllm.worker\nprint(vllm.worker.other())\n");
        let left = bench.one();
        assert!(left.has("src/vllm/worker.py other 5"), "{}", left.text);
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    }
}

/// The lines of the fake packages that coverage.py saw executed.
fn executed(bench: &Bench, core: &str, armed: bool) -> String {
    let data = bench.path(if armed { "armed.data" } else { "plain.data" });
    let run = ["-m", "coverage", "run", "--source", "src", "main.py"];
    let mut command = if armed {
        bench.armed(&run)
    } else {
        bench.plain(&run)
    };
    command
        .env("COVERAGE_CORE", core)
        .env("COVERAGE_FILE", &data);
    let output = command.output().unwrap();
    assert!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    let report = ["-m", "coverage", "report", "--show-missing"];
    let mut command = bench.plain(&report);
    let output = command.env("COVERAGE_FILE", &data).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    text(&output.stdout)
}

#[test]
fn coverage_sees_what_it_would_with_either_of_its_ways() {
    for python in pythons::with_pytest() {
        for core in ["ctrace", "sysmon"] {
            let bench = Bench::new(&python);
            bench.file(
                "main.py",
                "import vllm\nvllm.Engine().run()\nvllm.Engine().run()\n",
            );
            let plain = executed(&bench, core, false);
            assert!(plain.contains("engine.py"), "{plain}");
            assert_eq!(executed(&bench, core, true), plain, "{core}");
            let left = bench.one();
            assert_functions(&left, &ENGINE);
            assert_eq!(left.state, ProcessState::Clean);
        }
    }
}

/// Runs the debugger with commands, unrecorded and recorded; it must say the same.
fn debugged(bench: &Bench, commands: &[&str]) {
    let mut arguments = vec!["-m", "pdb"];
    for command in commands {
        arguments.extend(["-c", command]);
    }
    arguments.push("main.py");
    let plain = bench.plain(&arguments).output().unwrap();
    let armed = bench.armed(&arguments).output().unwrap();
    assert_eq!(text(&plain.stdout), text(&armed.stdout));
    assert!(text(&plain.stdout).contains("[0, 1]"), "{plain:?}");
    assert_eq!(plain.status, armed.status);
}

#[test]
fn a_debugger_stops_where_it_would() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("main.py", "import vllm\nprint(vllm.Engine().run())\n");
        debugged(
            &bench,
            &[
                "b main.py:2",
                "c",
                "b vllm/engine.py:7",
                "c",
                "where",
                "cl 2",
                "c",
                "q",
            ],
        );
        let left = bench.one();
        assert_functions(&left, &ENGINE);
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
    }
}

#[test]
fn what_a_debuggers_command_imports_is_known_to_be_unseen() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("main.py", "import vllm\nprint(vllm.Engine().run())\n");
        debugged(&bench, &["import vllm.engine", "c", "q"]);
        let left = bench.one();
        assert!(left.has_error("unseen_code"), "{}", left.text);
        assert!(left.has("src/vllm/engine.py <module> 1"), "{}", left.text);
    }
}
