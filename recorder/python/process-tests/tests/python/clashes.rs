//! Other tools of `sys.monitoring`, and programs that take the recorder's place.

use crate::bench::{Bench, ENGINE, assert_functions};
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
