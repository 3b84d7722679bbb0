//! One build folder's records, and the recipes they hold.

use super::cmake;
use super::compile_db::{self, Command, offload_archs, split_shell};
use super::depfile;
use super::error::BuildError;
use super::files::lexical;
use super::recipe::{Problem, Recipe};
use super::record::read_record;
use crate::ninja::{BuildFile, BuildLog, DepsLog, Edge};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Suffixes of what a link or an archive takes; an edge of only these compiles nothing.
const LINK_INPUTS: [&str; 4] = [".o", ".obj", ".a", ".so"];
/// Suffixes of what a compiler makes machine code of.
const SOURCES: [&str; 9] = [
    ".cu", ".hip", ".c", ".cc", ".cpp", ".cxx", ".c++", ".C", ".cuf",
];
/// Suffixes of device code that a program loads at run time.
const IMAGES: [&str; 7] = [
    ".cubin", ".fatbin", ".hipfb", ".hsaco", ".ltoir", ".optixir", ".ptx",
];

/// The records of one build folder.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    deps: Option<DepsLog>,
    log: Option<BuildLog>,
    build: Option<BuildFile>,
    commands: Vec<Command>,
}

/// What the compiler read for one object.
#[derive(Debug)]
pub(crate) struct Inputs {
    /// Absolute but not resolved.
    pub(crate) files: Vec<PathBuf>,
    /// The dependency file that lists them; `.ninja_deps` has a time of its own for each object.
    pub(crate) listed_in: Option<PathBuf>,
}

impl Folder {
    /// Reads what `path` holds; a record that is there must be readable.
    pub(crate) fn read(path: &Path) -> Result<Self, BuildError> {
        let at = |name: &str| Some(path.join(name)).filter(|path| path.is_file());
        let deps = at(".ninja_deps").map(|path| DepsLog::read(&path, &read_record(&path)?));
        let log = at(".ninja_log").map(|path| BuildLog::read(&path, &read_record(&path)?));
        let build = at("build.ninja").map(|file| BuildFile::read(&file, path));
        let commands = at("compile_commands.json").map(|path| compile_db::read(&path));
        Ok(Self {
            path: path.to_owned(),
            deps: deps.transpose()?,
            log: log.transpose()?,
            build: build.transpose()?,
            commands: commands.transpose()?.unwrap_or_default(),
        })
    }

    /// Every compilation that the records name, by object. Records that disagree are an error.
    pub(crate) fn recipes(&self) -> Result<BTreeMap<PathBuf, Recipe>, BuildError> {
        let mut found: BTreeMap<PathBuf, Recipe> = BTreeMap::new();
        let edges = self.build.iter().flat_map(|build| &build.edges);
        let named = edges.filter_map(|edge| self.of_edge(edge)).chain(
            self.commands
                .iter()
                .filter_map(|command| self.of_command(command)),
        );
        for recipe in named {
            match found.get_mut(&recipe.object) {
                None => {
                    found.insert(recipe.object.clone(), recipe);
                }
                Some(first) if same_file(&first.source, &recipe.source) => {
                    first.offload_archs.extend(recipe.offload_archs);
                }
                Some(first) => {
                    return Err(BuildError::ConflictingSources {
                        object: recipe.object.display().to_string(),
                        first: first.source.display().to_string(),
                        second: recipe.source.display().to_string(),
                    });
                }
            }
        }
        Ok(found)
    }

    fn of_edge(&self, edge: &Edge) -> Option<Recipe> {
        let output = edge.outputs.first().filter(|output| is_object(output))?;
        let source = edge.inputs.first()?;
        if edge.rule == "phony" || is_link_input(source) || cmake::is_device_link(output) {
            return None;
        }
        let options: Vec<String> = edge
            .bindings
            .iter()
            .flat_map(|(_, value)| split_shell(value))
            .collect();
        Some(Recipe {
            object: self.absolute(output),
            output: output.clone(),
            source: self.absolute(source),
            target: cmake::target(output).to_owned(),
            directory: self.path.clone(),
            offload_archs: offload_archs(options.iter().map(String::as_str)),
        })
    }

    fn of_command(&self, command: &Command) -> Option<Recipe> {
        let output = command
            .output
            .as_deref()
            .filter(|output| is_object(output))?;
        let directory = self.path.join(&command.directory);
        let object = lexical(&directory.join(output));
        let relative = object.strip_prefix(&self.path).unwrap_or(&object);
        let output = relative.to_str()?.to_owned();
        Some(Recipe {
            source: lexical(&directory.join(&command.file)),
            target: cmake::target(&output).to_owned(),
            offload_archs: offload_archs(command.arguments.iter().map(String::as_str)),
            output,
            object,
            directory,
        })
    }

    /// A recipe for an object that no record names: from its dependency file and `CMake`'s naming.
    pub(crate) fn last_resort(&self, object: &Path) -> Option<Recipe> {
        if self.build.is_some() || !self.commands.is_empty() {
            return None;
        }
        let output = object.strip_prefix(&self.path).ok()?.to_str()?.to_owned();
        // Make runs each compilation in the folder that holds `CMakeFiles`.
        let (below, _) = output.rsplit_once("CMakeFiles/")?;
        let directory = self.path.join(below);
        let rule = depfile::parse(&read_record(&depfile_path(object)?).ok()?).ok()?;
        let source = rule
            .inputs
            .iter()
            .map(|input| lexical(&directory.join(input)))
            .find(|input| cmake::names_source(&output, input))?;
        Some(Recipe {
            object: object.to_owned(),
            target: cmake::target(&output).to_owned(),
            output,
            source,
            directory,
            ..Recipe::default()
        })
    }

    /// Whether an object that no recipe names is the product of a link, or another step that compiles nothing.
    pub(crate) fn is_linked(&self, object: &Path) -> bool {
        let output = object
            .strip_prefix(&self.path)
            .unwrap_or(object)
            .to_string_lossy();
        let maker = self.build.as_ref().and_then(|build| build.maker(&output));
        // A step that names no inputs at all may compile anything.
        maker.is_some_and(|edge| {
            let mut all = edge.inputs.iter().chain(&edge.implicit);
            !edge.inputs.is_empty() && all.all(|input| is_link_input(input))
        }) || cmake::is_device_link(&output)
    }

    /// What the build has compiled to something else than an object: a program in one step, or device code that is
    /// loaded at run time. No object holds its kernels.
    pub(crate) fn other_products(&self) -> BTreeSet<PathBuf> {
        let edges = self.build.iter().flat_map(|build| &build.edges);
        let of_edges = edges
            .filter(|edge| edge.rule != "phony")
            .flat_map(|edge| edge.outputs.iter().map(move |output| (edge, output)))
            .filter(|(edge, output)| is_compiled(output, &edge.inputs))
            .map(|(_, output)| self.absolute(output));
        let of_commands = self.commands.iter().filter_map(|command| {
            let output = command.output.as_deref()?;
            let directory = self.path.join(&command.directory);
            is_compiled(output, std::slice::from_ref(&command.file))
                .then(|| lexical(&directory.join(output)))
        });
        of_edges
            .chain(of_commands)
            .filter(|path| is_product(path))
            .collect()
    }

    /// Whether the build has made `recipe`'s object at some time.
    pub(crate) fn has_made(&self, recipe: &Recipe) -> bool {
        let full = recipe.object.to_string_lossy();
        let names = [recipe.output.as_str(), &full];
        let logged = |name: &&str| {
            self.log.as_ref().is_some_and(|log| log.made(name))
                || self
                    .deps
                    .as_ref()
                    .is_some_and(|deps| deps.inputs(name).is_some())
        };
        names.iter().any(logged) || depfile_path(&recipe.object).is_some()
    }

    /// The files that the compiler read for `recipe`.
    pub(crate) fn inputs(&self, recipe: &Recipe, modified: i128) -> Result<Inputs, Problem> {
        let logged = self.deps.as_ref().and_then(|deps| {
            deps.inputs(&recipe.output)
                .or_else(|| deps.inputs(&recipe.object.to_string_lossy()))
        });
        if let Some((time, inputs)) = logged {
            if !time.covers(modified) {
                let text = "the object is newer than its record in `.ninja_deps`";
                return Err(Problem::new("stale-dependencies", text));
            }
            let files = inputs.into_iter().map(|input| self.path.join(input));
            return Ok(Inputs {
                files: files.collect(),
                listed_in: None,
            });
        }
        let Some(path) = depfile_path(&recipe.object) else {
            let text =
                "neither `.ninja_deps` nor a dependency file lists what it was compiled from";
            return Err(Problem::new("no-dependency-record", text));
        };
        let unreadable = |text: String| Problem::new("unreadable-dependencies", text);
        let bytes = read_record(&path).map_err(|error| unreadable(error.to_string()))?;
        let rule = depfile::parse(&bytes).map_err(|fault| {
            unreadable(format!("`{}`: expected {}", path.display(), fault.expected))
        })?;
        let files = rule.inputs.iter().map(|input| recipe.directory.join(input));
        Ok(Inputs {
            files: files.collect(),
            listed_in: Some(path),
        })
    }

    /// The statement that makes a generated file.
    pub(crate) fn maker(&self, file: &Path) -> Option<&Edge> {
        let build = self.build.as_ref()?;
        let relative = file.strip_prefix(&self.path).ok().and_then(Path::to_str);
        relative
            .and_then(|relative| build.maker(relative))
            .or_else(|| build.maker(file.to_str()?))
    }

    /// `name` as ninja resolves it.
    pub(crate) fn absolute(&self, name: &str) -> PathBuf {
        lexical(&self.path.join(name))
    }
}

/// Records may spell one file in two ways.
pub(crate) fn same_file(a: &Path, b: &Path) -> bool {
    let real = |path: &Path| fs_err::canonicalize(path).ok();
    a == b || real(a).is_some_and(|path| real(b) == Some(path))
}

/// `a.cu.o` has `a.cu.o.d` (`CMake`) or `a.cu.d` (hand-written rules) beside it.
fn depfile_path(object: &Path) -> Option<PathBuf> {
    let mut appended = object.as_os_str().to_owned();
    appended.push(".d");
    [PathBuf::from(appended), object.with_extension("d")]
        .into_iter()
        .find(|path| path.is_file())
}

fn is_object(output: &str) -> bool {
    has_suffix(output, &[".o", ".obj"])
}

fn has_suffix(name: &str, suffixes: &[&str]) -> bool {
    suffixes.iter().any(|suffix| name.ends_with(suffix))
}

/// An object, a library or a shared library with a version (`libx.so.1.2`).
fn is_link_input(input: &str) -> bool {
    let version = input.rsplit_once(".so.").map(|(_, version)| version);
    has_suffix(input, &LINK_INPUTS)
        || version.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// Whether a step makes device code, or may make a program, from something else than objects.
fn is_compiled(output: &str, inputs: &[String]) -> bool {
    if has_suffix(output, &IMAGES) {
        let is_linked = |input: &String| is_link_input(input) || has_suffix(input, &IMAGES);
        return inputs.is_empty() || !inputs.iter().all(is_linked);
    }
    !is_object(output) && inputs.iter().any(|input| has_suffix(input, &SOURCES))
}

/// Whether a file is there that is device code, or an ELF file or an archive as far as its first bytes say.
fn is_product(path: &Path) -> bool {
    if !path.is_file() {
        return false;
    }
    let mut magic = [0; 4];
    let read = fs_err::File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    let is_program = read.is_ok() && [*b"\x7fELF", *b"!<ar", *b"!<th"].contains(&magic);
    is_program || has_suffix(&path.to_string_lossy(), &IMAGES)
}
