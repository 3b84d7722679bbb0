//! One object's entry: kernels, source and dependencies, or why there are none.

use crate::build::{Files, Folder, Known, Origin, Origins, Problem, Recipe};
use crate::cuda::DeviceLinks;
use crate::input::with_causes;
use crate::object::{DeviceCode, ObjectReader};
use kernrec_schemas::KernelName;
use kernrec_schemas::symbol_map::MapObject;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Dependencies that stand for headers whose own dependencies are not recorded.
const PRECOMPILED: [&str; 5] = ["gch", "pch", "pcm", "gcm", "ifc"];

/// An entry of the map. With `error` set, `complete_deps` says whether its dependencies are all there.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) object: MapObject,
    pub(crate) complete_deps: bool,
    pub(crate) links: DeviceLinks,
}

/// What entries are made with.
#[derive(Debug)]
pub(crate) struct Context<'a> {
    pub(crate) origins: Origins<'a>,
    pub(crate) files: &'a Files,
}

/// Source and dependencies of an object, as the map names them.
struct Sources {
    source: String,
    compiled: Option<String>,
    deps: BTreeSet<String>,
}

impl Context<'_> {
    /// The entry of `recipe`'s object, `None` when the build never made it.
    pub(crate) fn entry(
        &self,
        reader: &mut ObjectReader,
        folder: &Folder,
        recipe: &Recipe,
    ) -> Option<Entry> {
        let Some(object) = self.files.known(&recipe.object) else {
            let missing = Problem::new("object-missing", "the build made it and it is gone");
            return folder
                .has_made(recipe)
                .then(|| self.failed(folder, recipe, &missing, None));
        };
        let sources = match self.sources(folder, recipe, &object) {
            Ok(sources) => sources,
            Err(problem) => return Some(self.failed(folder, recipe, &problem, None)),
        };
        let code = self.code(reader, recipe);
        if !Files::is_still(&recipe.object, &object) {
            let changed = Problem::new("stale-object", "it changed while it was read");
            return Some(self.failed(folder, recipe, &changed, None));
        }
        Some(match code {
            Ok(code) => Self::whole(folder, recipe, sources, code),
            Err(problem) => self.failed(folder, recipe, &problem, Some(sources)),
        })
    }

    /// Reads the object, once more if that failed: a build that is still writing may be met.
    fn code(&self, reader: &mut ObjectReader, recipe: &Recipe) -> Result<DeviceCode, Problem> {
        let mut read = || reader.read(&recipe.object, self.origins.backend);
        let code = read()
            .or_else(|_| read())
            .map_err(|error| Problem::new(error.reason(), with_causes(&error)))?;
        check_frontends(&code, &recipe.offload_archs)?;
        Ok(code)
    }

    fn whole(folder: &Folder, recipe: &Recipe, sources: Sources, code: DeviceCode) -> Entry {
        let symbols = code
            .symbols
            .into_iter()
            .filter_map(|name| KernelName::new(name).ok());
        let object = MapObject {
            source: sources.source,
            compiled_source: sources.compiled,
            target: recipe.target.clone(),
            object: object_name(folder, recipe),
            device: code.device,
            symbols: symbols.collect(),
            deps: sources.deps.into_iter().map(Into::into).collect(),
            offload_targets: code.offload_targets.into_iter().collect(),
            error: None,
        };
        Entry {
            object,
            complete_deps: true,
            links: code.links,
        }
    }

    fn failed(
        &self,
        folder: &Folder,
        recipe: &Recipe,
        problem: &Problem,
        sources: Option<Sources>,
    ) -> Entry {
        let complete_deps = sources.is_some();
        let sources = sources.unwrap_or_else(|| Sources {
            source: self.name(&recipe.source),
            compiled: None,
            deps: BTreeSet::new(),
        });
        let object = MapObject {
            source: sources.source,
            compiled_source: sources.compiled,
            target: recipe.target.clone(),
            object: object_name(folder, recipe),
            device: true,
            symbols: Vec::new(),
            deps: sources.deps.into_iter().map(Into::into).collect(),
            offload_targets: Vec::new(),
            error: Some(problem.to_string()),
        };
        Entry {
            object,
            complete_deps,
            links: DeviceLinks::default(),
        }
    }

    fn sources(
        &self,
        folder: &Folder,
        recipe: &Recipe,
        object: &Known,
    ) -> Result<Sources, Problem> {
        let Some(source) = self.files.known(&recipe.source) else {
            let text = format!("`{}` is gone", recipe.source.display());
            return Err(Problem::new("source-missing", text));
        };
        let mut deps = BTreeSet::new();
        let mut has_source = false;
        let inputs = folder.inputs(recipe, object.modified)?;
        let listed = inputs.listed_in.and_then(|path| self.files.known(&path));
        for input in inputs.files {
            let known = self.dependency(&input, object)?;
            if listed
                .as_ref()
                .is_some_and(|list| known.modified > list.modified)
            {
                let text = format!(
                    "`{}` is newer than the list of dependencies",
                    input.display()
                );
                return Err(Problem::new("stale-dependencies", text));
            }
            has_source |= known.real == source.real;
            self.add(&input, &known, &mut deps)?;
        }
        if !has_source {
            let text = format!(
                "`{}` is not among its own dependencies",
                recipe.source.display()
            );
            return Err(Problem::new("short-dependencies", text));
        }
        let compiled = self.name(&source.real);
        Ok(match self.origins.of(&source.real)? {
            Origin::Of(original) => Sources {
                source: self.name(&original),
                compiled: Some(compiled),
                deps,
            },
            Origin::Itself | Origin::Made(_) => Sources {
                source: compiled,
                compiled: None,
                deps,
            },
        })
    }

    fn dependency(&self, input: &Path, object: &Known) -> Result<std::sync::Arc<Known>, Problem> {
        let Some(known) = self.files.known(input) else {
            let text = format!("`{}` is gone", input.display());
            return Err(Problem::new("dependency-missing", text));
        };
        if known.modified > object.modified {
            let text = format!("`{}` is newer than the object", input.display());
            return Err(Problem::new("stale-object", text));
        }
        let precompiled = known.real.extension().and_then(|suffix| suffix.to_str());
        if precompiled.is_some_and(|suffix| PRECOMPILED.contains(&suffix)) {
            let text = format!("`{}` hides the headers it was made from", input.display());
            return Err(Problem::new("precompiled-header", text));
        }
        Ok(known)
    }

    /// Adds the names that a change to `input` can have: its own, its link's and its origins'.
    fn add(&self, input: &Path, known: &Known, deps: &mut BTreeSet<String>) -> Result<(), Problem> {
        let link = crate::build::lexical(input);
        if link != known.real && link.starts_with(self.origins.source_root) {
            deps.insert(self.name(&link));
        }
        match self.origins.of(&known.real)? {
            Origin::Itself => {
                deps.insert(self.name(&known.real));
            }
            Origin::Of(original) => {
                deps.insert(self.name(&original));
            }
            Origin::Made(inputs) => {
                deps.insert(self.name(&known.real));
                deps.extend(inputs.iter().map(|input| self.name(input)));
            }
        }
        Ok(())
    }

    /// Relative to the source root when inside it, else absolute.
    pub(crate) fn name(&self, path: &Path) -> String {
        name_in(self.origins.source_root, path)
    }
}

/// `path` relative to `root` when inside it, else absolute.
pub(crate) fn name_in(root: &Path, path: &Path) -> String {
    path.strip_prefix(root)
        .unwrap_or(path)
        .to_string_lossy()
        .into_owned()
}

fn object_name(folder: &Folder, recipe: &Recipe) -> String {
    name_in(&folder.path, &PathBuf::from(&recipe.object))
}

/// The processors in the object are those that its command names.
fn check_frontends(code: &DeviceCode, archs: &BTreeSet<String>) -> Result<(), Problem> {
    if archs.is_empty() || code.offload_targets.is_empty() {
        return Ok(());
    }
    let found: BTreeSet<String> = code
        .offload_targets
        .iter()
        .filter_map(|id| id.rsplit_once("--").map(|(_, target)| target.to_owned()))
        .collect();
    if found == *archs {
        return Ok(());
    }
    let text = format!("compiled for {archs:?}, holds code for {found:?}");
    Err(Problem::new("target-mismatch", text))
}
