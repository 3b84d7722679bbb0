//! One build folder's records, and the recipes they hold.

use super::cmake;
use super::compile_db::{self, Command, offload_archs, split_shell};
use super::depfile;
use super::error::BuildError;
use super::files::lexical;
use super::recipe::{Problem, Recipe};
use super::record::read_record;
use crate::ninja::{BuildFile, BuildLog, DepsLog, Edge};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// Suffixes of what a link or an archive takes; an edge of only these compiles nothing.
const LINK_INPUTS: [&str; 5] = [".o", ".obj", ".a", ".so", ".fatbin"];

/// The records of one build folder.
#[derive(Debug, Default)]
pub(crate) struct Folder {
    pub(crate) path: PathBuf,
    deps: Option<DepsLog>,
    log: Option<BuildLog>,
    build: Option<BuildFile>,
    commands: Vec<Command>,
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
        if edge.rule == "phony" || is_link_input(source) {
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
        maker.is_some_and(|edge| edge.inputs.iter().all(|input| is_link_input(input)))
            || cmake::is_device_link(&output)
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

    /// The files that the compiler read for `recipe`, absolute but not resolved.
    pub(crate) fn inputs(&self, recipe: &Recipe, modified: i128) -> Result<Vec<PathBuf>, Problem> {
        let logged = self.deps.as_ref().and_then(|deps| {
            deps.inputs(&recipe.output)
                .or_else(|| deps.inputs(&recipe.object.to_string_lossy()))
        });
        if let Some((time, inputs)) = logged {
            if !time.covers(modified) {
                let text = "the object is newer than its record in `.ninja_deps`";
                return Err(Problem::new("stale-dependencies", text));
            }
            return Ok(inputs
                .into_iter()
                .map(|input| self.path.join(input))
                .collect());
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
        Ok(rule
            .inputs
            .iter()
            .map(|input| recipe.directory.join(input))
            .collect())
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
    [".o", ".obj"].iter().any(|suffix| output.ends_with(suffix))
}

fn is_link_input(input: &str) -> bool {
    LINK_INPUTS.iter().any(|suffix| input.ends_with(suffix)) || input.contains(".so.")
}
