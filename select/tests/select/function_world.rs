//! A repository with kernels, Python and requirements, and a record of each.

use crate::common::functions::{functions, record};
use crate::common::git::World;
use crate::common::{DAY, ago, map, object, policy, ready, reason, table};
use kernrec_schemas::Backend;
use kernrec_select::{
    Change, FunctionRecord, GitSources, HostCode, Libraries, Lineage, Pair, Placing, Question,
    Reason, Record, Report, SharedSources, Steps, select,
};

pub(crate) const STEPS: [&str; 3] = ["calls", "imports", "elsewhere"];

const CORE: &str = "import torch
LIMIT = 1

def helper(x):
    '''What it does.'''
    return x + LIMIT

def never(x):
    return x

@triton.jit
def kernel(x):
    return x

class Model:
    size = 2

    def run(self):
        return helper(self.size)
";

const KERNELS: &str =
    "__global__ void ka(float *p) { *p = 1; }\n__global__ void kb(float *p) { *p = 2; }\n";

/// Files as they are when they are recorded.
pub(crate) fn world() -> World {
    let world = World::of(&[
        ("a.cu", KERNELS.as_bytes()),
        ("data.json", b"{}\n"),
        (
            "requirements.txt",
            b"torch==2.9.0\nnumpy==2.0\nflash-attn==1.0\n-r more.txt\n",
        ),
    ]);
    for folder in ["pkg", "tests"] {
        fs_err::create_dir(world.path(folder)).unwrap();
    }
    world.write("pkg/core.py", CORE.as_bytes());
    world.write("pkg/other.py", b"def other():\n    return 1\n");
    world.write("pkg/__init__.py", b"VERSION = 1\n");
    world.write("pkg/unseen.py", b"def unseen():\n    return 1\n");
    world.write("tests/test_core.py", b"def test_it():\n    assert 1\n");
    world.write("tests/conftest.py", b"def fixture():\n    return 1\n");
    world.commit();
    world
}

/// The world after replacing texts: file, from, to. An empty `from` writes the file anew.
pub(crate) fn edited(edits: &[(&str, &str, &str)]) -> World {
    let world = world();
    for (file, from, to) in edits {
        if from.is_empty() {
            world.write(file, to.as_bytes());
            continue;
        }
        let text = fs_err::read_to_string(world.path(file)).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from}");
        world.write(file, text.replace(from, to).as_bytes());
    }
    world.commit();
    world
}

/// `calls` ran everything, `imports` imported it, `elsewhere` did neither.
pub(crate) fn python() -> FunctionRecord {
    record(&[
        (
            "calls",
            &[
                "pkg/__init__.py:<module>",
                "pkg/core.py:<module>",
                "pkg/core.py:Model",
                "pkg/core.py:Model.run",
                "pkg/core.py:helper",
                "tests/conftest.py:<module>",
                "tests/conftest.py:fixture",
                "tests/test_core.py:<module>",
                "tests/test_core.py:test_it",
                "torch",
                "flash_attn",
            ],
        ),
        (
            "imports",
            &[
                "pkg/__init__.py:<module>",
                "pkg/core.py:<module>",
                "pkg/core.py:Model",
                "tests/test_import.py:<module>",
                "torch",
            ],
        ),
        (
            "elsewhere",
            &[
                "pkg/__init__.py:<module>",
                "pkg/other.py:<module>",
                "pkg/other.py:other",
                "tests/test_other.py:<module>",
                "numpy",
            ],
        ),
    ])
}

/// `calls` launched `ka`, `imports` launched `kb`, `elsewhere` nothing.
pub(crate) fn kernels(backend: Backend) -> Pair {
    Pair {
        backend,
        table: table(
            backend,
            &[
                ("calls", &["_Z2kaPf"]),
                ("imports", &["_Z2kbPf"]),
                ("elsewhere", &[]),
            ],
        ),
        maps: vec![map(
            backend,
            vec![object("a.cu", &["_Z2kaPf", "_Z2kbPf"], &[])],
        )],
        published_at: ago(DAY),
        revoked: false,
        unverified: None,
        lineage: Lineage::default(),
    }
}

/// What is asked besides the records.
#[derive(Default)]
pub(crate) struct Asked<'a> {
    pub(crate) steps: Option<&'a str>,
    pub(crate) libraries: &'a [&'a str],
}

pub(crate) fn ask(world: &World, records: &[Record], asked: &Asked<'_>) -> Report {
    let repo = world.repo();
    let diff = repo.diff(&"HEAD~1...HEAD".parse().unwrap()).unwrap();
    let sources = SharedSources::new(GitSources::open(&repo, &diff).unwrap());
    let mut libraries = Libraries::default();
    for declared in asked.libraries {
        libraries.declare(declared).unwrap();
    }
    let steps = asked.steps.map(|text| Steps::parse("steps", text).unwrap());
    let question = Question {
        change: &Change::of_diff(&diff).unwrap(),
        steps: steps.as_ref(),
        policy: policy(),
        placing: Placing::Kernel {
            sources: &sources,
            host_code: HostCode::Certain,
        },
        libraries: Some(&libraries),
    };
    select(records, &question).unwrap()
}

pub(crate) fn both() -> [Record; 2] {
    [ready(kernels(Backend::Cuda)), functions(python())]
}

pub(crate) fn reasons(report: &Report) -> [Reason; 3] {
    STEPS.map(|step| reason(report, step))
}
