//! `torch.compile`, played by a package that has PyTorch's names for what the recorder looks at.

use crate::bench::Bench;
use crate::pythons;
use kernrec_schemas::recording::ProcessState;

const TAKES: &str = "def cleaned_instructions(code, safe=False):\n    return list(code.co_code)\n";
const TRACES: &str = "class InstructionTranslatorBase:\n    def run(self):\n        return 1\n";

fn torch(python: &std::path::Path) -> Bench {
    let bench = Bench::new(python);
    bench.file("src/torch/__init__.py", "");
    bench.file("src/torch/_dynamo/__init__.py", "");
    bench.file("src/torch/_dynamo/bytecode_transformation.py", TAKES);
    bench.file("src/torch/_dynamo/symbolic_convert.py", TRACES);
    bench
}

#[test]
fn functions_that_are_traced_count_as_entered() {
    let program = "import vllm.worker\nfrom torch._dynamo.bytecode_transformation import cleaned_instructions as c\nfrom torch._dynamo.symbolic_convert import InstructionTranslatorBase as T\nfor f in (vllm.worker.work, vllm.worker.other, vllm.Engine.run): print(len(c(f.__code__)) > 0)\nT().run()\n";
    for python in pythons::recorded() {
        let bench = torch(python);
        bench.run(program);
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
        for function in [
            "src/vllm/worker.py work 1",
            "src/vllm/worker.py other 5",
            "src/vllm/engine.py Engine.run 5",
        ] {
            assert!(left.has(function), "no {function}: {}", left.text);
        }
    }
}

#[test]
fn tracing_that_is_not_seen_spoils_the_recording() {
    let program = "import vllm\nfrom torch._dynamo.symbolic_convert import InstructionTranslatorBase as T\nT().run()\n";
    for python in pythons::recorded() {
        let bench = torch(python);
        bench.run(program);
        let left = bench.one();
        assert!(left.has_error("untraced_compilation"), "{}", left.text);
    }
}

#[test]
fn an_argument_of_another_kind_harms_nothing_and_spoils_the_recording() {
    let program = "import vllm\nfrom torch._dynamo.bytecode_transformation import cleaned_instructions as c\ntry:\n    c(7)\nexcept AttributeError as error:\n    print(error)\n";
    for python in pythons::recorded() {
        let bench = torch(python);
        bench.run(program);
        let left = bench.one();
        assert!(left.has_error("untraced_compilation"), "{}", left.text);
    }
}
