//! Packages by the names of those that are watched.

/// The fake packages: a `vllm` with the shapes that Python's code has, and an `aiter`.
pub(crate) const TREE: [(&str, &str); 6] = [
    ("vllm/__init__.py", "from vllm.engine import Engine\n"),
    (
        "vllm/engine.py",
        "import json\n\n\nclass Engine:\n    def run(self):\n        def inner():\n            return json.dumps([x for x in self.steps()])\n        return inner()\n\n    def steps(self):\n        yield from (n for n in range(2))\n\n    def never(self):\n        return 0\n",
    ),
    (
        "vllm/worker.py",
        "def work(queue=None):\n    return 7\n\n\ndef other():\n    return work()\n",
    ),
    ("aiter/__init__.py", ""),
    ("aiter/ops.py", "def gemm():\n    return 1\n"),
    ("mylib/__init__.py", "def help():\n    return 2\n"),
];
