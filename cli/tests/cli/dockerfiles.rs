//! The Dockerfiles of docs/symbol-maps.md, run stage after stage without Docker: each `RUN` by a shell, with a folder
//! in place of the image's `/`. What comes from outside (the base image, Debian's packages) is what the tests have.

use crate::context::{Context, repository};
use crate::toolchain::{nvcc, tool};
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::{Backend, Commit};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

const COMMIT: &str = "6f8c3cd29165f29ab89dba1d67f07440ec5fb936";
/// The arguments of `docker build` that the page names.
const ASKED: [(&str, &str); 3] = [
    ("SYMBOL_MAP", "1"),
    ("COMMIT", COMMIT),
    ("SOURCE_DATE_EPOCH", "1796000000"),
];

/// An instruction with what follows it.
type Line = (String, String);

struct Stage {
    base: String,
    lines: Vec<Line>,
}

/// A Dockerfile, its arguments, and where its stages are made.
struct Build<'a> {
    context: &'a Context,
    stages: BTreeMap<String, Stage>,
    arguments: BTreeMap<String, String>,
    environment: Vec<(&'static str, PathBuf)>,
}

impl<'a> Build<'a> {
    fn new(
        context: &'a Context,
        file: &str,
        arguments: &[(&str, &str)],
        environment: Vec<(&'static str, PathBuf)>,
    ) -> Self {
        let mut build = Self {
            context,
            stages: BTreeMap::new(),
            arguments: BTreeMap::new(),
            environment,
        };
        let mut current: Option<String> = None;
        for (word, rest) in lines(file) {
            match (word.as_str(), &current) {
                ("FROM", _) => {
                    let (base, name) = rest.split_once(" AS ").expect("a name for each stage");
                    let base = build.expanded(base);
                    let stage = Stage {
                        base,
                        lines: Vec::new(),
                    };
                    let twice = build.stages.insert(name.to_owned(), stage);
                    assert!(twice.is_none(), "two stages `{name}`");
                    current = Some(name.to_owned());
                }
                ("ARG", None) => build.argument(&rest, arguments),
                (_, Some(name)) => {
                    build.stages.get_mut(name).unwrap().lines.push((word, rest));
                }
                (word, None) => panic!("`{word}` before the first stage"),
            }
        }
        for (name, value) in arguments {
            build
                .arguments
                .insert((*name).to_owned(), (*value).to_owned());
        }
        build
    }

    /// `NAME=DEFAULT`.
    fn argument(&mut self, declared: &str, given: &[(&str, &str)]) {
        let (name, default) = declared.split_once('=').expect("a default");
        let given = given.iter().find(|(other, _)| *other == name);
        let value = given.map_or(default.trim_matches('"'), |(_, value)| value);
        self.arguments.insert(name.to_owned(), value.to_owned());
    }

    /// `${NAME}` replaced.
    fn expanded(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, value) in &self.arguments {
            text = text.replace(&format!("${{{name}}}"), value);
        }
        text
    }

    /// Makes a stage and those it is made from; its root. A stage goes on in its base's folder: paths of the build are
    /// absolute, and no two stages that are made here change the same file.
    fn make(&self, name: &str) -> PathBuf {
        let stage = &self.stages[name];
        let root = if self.stages.contains_key(&stage.base) {
            self.make(&stage.base)
        } else {
            self.context.path(name)
        };
        fs_err::create_dir_all(&root).unwrap();
        let mut arguments = BTreeMap::new();
        for (word, rest) in &stage.lines {
            match word.as_str() {
                "ARG" => {
                    let name = rest.split('=').next().unwrap();
                    let value = self.arguments.get(name).cloned().unwrap_or_default();
                    arguments.insert(name.to_owned(), value);
                }
                "COPY" => self.copy(rest, &root),
                "RUN" => self.run(rest, &root, &arguments),
                word => panic!("`{word}` is not what the page's files hold"),
            }
        }
        root
    }

    fn copy(&self, what: &str, root: &Path) {
        let words: Vec<&str> = what.split(' ').collect();
        let (from, to) = match words.as_slice() {
            [stage, from, to] => {
                let stage = stage.strip_prefix("--from=").expect("a stage");
                (self.make(stage).join(from.trim_start_matches('/')), to)
            }
            [from, to] => (self.context.path("context").join(from), to),
            _ => panic!("COPY {what}"),
        };
        let to = root.join(to.trim_start_matches('/'));
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        // A folder's content, or a file, as Docker copies them.
        let from = if from.is_dir() { from.join(".") } else { from };
        let copied = tool("cp").arg("-r").arg(&from).arg(&to).status().unwrap();
        assert!(copied.success(), "COPY {what}");
    }

    fn run(&self, script: &str, root: &Path, arguments: &BTreeMap<String, String>) {
        if script.starts_with("apt-get update && apt-get install -y ") {
            assert!(script.ends_with(" cmake ninja-build"), "{script}");
            return;
        }
        let script = script.replace(" /", &format!(" {}/", root.display()));
        let programs = root.join("usr/local/bin");
        let path = std::env::var("PATH").unwrap();
        let mut shell = Command::new("sh");
        shell
            .args(["-ec", &script])
            .env("PATH", format!("{}:{path}", programs.display()))
            .env_remove("BUILDKITE_COMMIT")
            .envs(arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)));
        let output = shell.output().unwrap();
        assert!(
            output.status.success(),
            "RUN {script}\n{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
}

/// Instructions, continued lines joined, comments left out.
fn lines(file: &str) -> Vec<Line> {
    let text: Vec<&str> = file
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .collect();
    let text = text.join("\n").replace("\\\n", " ");
    let split = |line: &str| {
        let (word, rest) = line.split_once(' ').expect("an instruction with something");
        let rest: Vec<&str> = rest.split_whitespace().collect();
        (word.to_owned(), rest.join(" "))
    };
    text.lines().map(split).collect()
}

/// The page's Dockerfiles: for CUDA and for ROCm.
fn files() -> [String; 2] {
    let page = fs_err::read_to_string(repository().join("docs/symbol-maps.md")).unwrap();
    let blocks: Vec<String> = page
        .split("```dockerfile\n")
        .skip(1)
        .map(|rest| rest.split("```").next().unwrap().to_owned())
        .collect();
    blocks.try_into().unwrap()
}

/// A context of a project and the program.
fn context(project: &[(&str, &str)]) -> Context {
    let context = Context::new();
    fs_err::create_dir_all(context.path("context")).unwrap();
    for (name, text) in project {
        context.write(&format!("context/{name}"), text);
    }
    fs_err::copy(
        env!("CARGO_BIN_EXE_kernrec"),
        context.path("context/kernrec"),
    )
    .unwrap();
    context
}

fn exported(root: &Path, name: &str) -> SymbolMap {
    let bytes = fs_err::read(root.join(name)).unwrap();
    let mut text = Vec::new();
    std::io::Read::read_to_end(&mut flate2::read::GzDecoder::new(&*bytes), &mut text).unwrap();
    let map = SymbolMap::parse(&text).unwrap();
    assert_eq!(map.errors, []);
    map.accept().unwrap();
    map
}

#[test]
fn the_cuda_file() {
    let cmake =
        "cmake_minimum_required(VERSION 3.22)\nproject(p CUDA)\nadd_library(k STATIC k.cu)\n";
    let project = [
        ("CMakeLists.txt", cmake),
        (
            "k.cu",
            "#include \"k.cuh\"\n__global__ void k(int *p) { *p = K; }\n",
        ),
        ("k.cuh", "#define K 1\n"),
    ];
    let context = context(&project);
    let environment = vec![
        ("CUDACXX", nvcc()),
        ("LIBRARY_PATH", nvcc().parent().unwrap().join("../lib")),
    ];
    let [file, _] = files();
    let build = Build::new(&context, &file, &ASKED, environment);
    let map = exported(&build.make("map"), "kernel_symbol_map.json.gz");
    assert_eq!(map.backend, Backend::Cuda);
    assert_eq!(map.commit.as_ref().map(Commit::as_str), Some(COMMIT));
    assert_eq!(map.objects.len(), 1);
    assert_eq!(map.objects[0].source, "k.cu");
    assert_eq!(map.objects[0].symbols.len(), 1);
    assert!(map.objects[0].deps.iter().any(|path| **path == *"k.cuh"));
}

/// No ROCm toolkit is needed for the file's own commands: here `CMake` calls clang as a C++ compiler. Nobody says
/// which commit it is.
#[test]
fn the_rocm_file() {
    let cmake = "cmake_minimum_required(VERSION 3.22)\nproject(p CXX)\nadd_library(k STATIC k.hip)\n\
        set_source_files_properties(k.hip PROPERTIES LANGUAGE CXX COMPILE_OPTIONS\n\
        \"-x;hip;-nogpuinc;-nogpulib;-O1;--offload-arch=gfx942\")\n";
    let kernel = "#include \"mini_hip.h\"\n__global__ void k(int *p) { *p = 1; }\n";
    let declarations = repository().join("symbols/tests/sources/hip/mini_hip.h");
    let declarations = fs_err::read_to_string(declarations).unwrap();
    let project = [
        ("CMakeLists.txt", cmake),
        ("k.hip", kernel),
        ("mini_hip.h", &declarations),
    ];
    let context = context(&project);
    tool("clang++-19");
    let [_, file] = files();
    let environment = vec![("CXX", PathBuf::from("clang++-19"))];
    let build = Build::new(&context, &file, &ASKED[..1], environment);
    let map = exported(&build.make("map"), "kernel_symbol_map.rocm.json.gz");
    assert_eq!(map.commit, None);
    assert_eq!(map.generated_at, None);
    assert_eq!(map.backend, Backend::Rocm);
    assert_eq!(map.objects[0].symbols.len(), 1);
    assert_eq!(map.offload_targets.len(), 1);
}

/// Without the switch there is no map and no program to make one, and the image needs neither.
#[test]
fn off_by_default() {
    for file in files() {
        let context = context(&[]);
        let mut build = Build::new(&context, &file, &[], Vec::new());
        // The project's own build is not what this is about.
        build.stages.get_mut("build").unwrap().lines.clear();
        assert_eq!(fs_err::read_dir(build.make("map")).unwrap().count(), 0);
        assert_eq!(build.stages["image"].base, "build");
        let last = lines(&file).into_iter().rfind(|(word, _)| word == "FROM");
        assert_eq!(last.unwrap().1, "build AS image");
    }
}
