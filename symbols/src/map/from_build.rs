//! The map of a build tree.

use super::assemble::{empty, whole};
use super::entry::{Context, Entry};
use super::links;
use super::options::BuildOptions;
use crate::build::{
    BuildError, Files, Folder, Origins, Problem, Recipe, discover, is_probe, same_file,
};
use crate::cuda::DeviceLinks;
use crate::input::with_causes;
use crate::object::ObjectReader;
use kernrec_schemas::symbol_map::{MapObject, SymbolMap};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Maps every object of a build tree to its source.
///
/// Never fails: a tree that cannot be mapped gives an empty map that is `incomplete`, with `reason`
/// and `errors`, so that an image build goes on and no reader takes silence for evidence. Objects
/// are read in parallel; at most one object's device sections are held for each worker.
pub fn map_build(options: &BuildOptions) -> SymbolMap {
    match try_map(options) {
        Ok(map) => map,
        Err(error) => empty(&options.labels, error.reason(), with_causes(&error)),
    }
}

/// One thing to be mapped.
enum Job<'a> {
    /// An object, with the folder whose records name it.
    Recipe(&'a Folder, Recipe),
    /// An object that no record names.
    Unclaimed(PathBuf),
    /// What was compiled to no object.
    Product(PathBuf),
}

fn try_map(options: &BuildOptions) -> Result<SymbolMap, BuildError> {
    let source_root = real(&options.source_root)?;
    let build_roots = options
        .build_roots
        .iter()
        .map(|root| real(root))
        .collect::<Result<Vec<_>, _>>()?;
    let mut folders = Vec::new();
    let mut objects = Vec::new();
    for root in &build_roots {
        let found = discover(root)?;
        objects.extend(found.objects);
        for folder in found.folders {
            folders.push(Folder::read(&folder)?);
        }
    }
    let jobs = jobs(&folders, objects)?;
    if jobs.is_empty() {
        let root = options
            .build_roots
            .first()
            .map_or_else(String::new, |root| root.display().to_string());
        return Err(BuildError::NoObjects { root });
    }
    let files = Files::default();
    let origins = Origins::new(
        options.labels.backend,
        &source_root,
        &build_roots,
        &folders,
        &files,
    );
    let context = Context {
        origins,
        files: &files,
    };
    let mut entries: Vec<Entry> = jobs
        .par_iter()
        .map_init(ObjectReader::default, |reader, job| {
            entry(&context, reader, job)
        })
        .flatten()
        .collect();
    links::follow(&mut entries);
    let build_dirs = folders
        .iter()
        .map(|folder| context.name(&folder.path))
        .collect();
    Ok(whole(options, build_dirs, entries))
}

fn real(path: &Path) -> Result<PathBuf, BuildError> {
    fs_err::canonicalize(path).map_err(|error| BuildError::read(path, error))
}

/// What is mapped: every recipe, and every object on disk that no recipe names.
fn jobs(folders: &[Folder], objects: Vec<PathBuf>) -> Result<Vec<Job<'_>>, BuildError> {
    let mut recipes: BTreeMap<PathBuf, (&Folder, Recipe)> = BTreeMap::new();
    for folder in folders {
        for (object, recipe) in folder.recipes()? {
            if is_probe(&object.to_string_lossy()) {
                continue;
            }
            match recipes.get(&object) {
                Some((_, first)) if !same_file(&first.source, &recipe.source) => {
                    return Err(BuildError::ConflictingSources {
                        object: object.display().to_string(),
                        first: first.source.display().to_string(),
                        second: recipe.source.display().to_string(),
                    });
                }
                // An outer folder's compile database may repeat what the inner folder knows better.
                _ => {
                    recipes.insert(object, (folder, recipe));
                }
            }
        }
    }
    let mut jobs = Vec::new();
    for object in objects {
        if recipes.contains_key(&object) || is_probe(&object.to_string_lossy()) {
            continue;
        }
        let inner = folders
            .iter()
            .rfind(|folder| object.starts_with(&folder.path));
        match inner.map(|folder| (folder, folder.last_resort(&object))) {
            Some((folder, Some(recipe))) => jobs.push(Job::Recipe(folder, recipe)),
            Some((folder, None)) if folder.is_linked(&object) => {}
            Some((_, None)) | None => jobs.push(Job::Unclaimed(object)),
        }
    }
    let products: BTreeSet<PathBuf> = folders.iter().flat_map(Folder::other_products).collect();
    let products = products.into_iter();
    jobs.extend(
        products
            .filter(|path| !is_probe(&path.to_string_lossy()))
            .map(Job::Product),
    );
    jobs.extend(
        recipes
            .into_values()
            .map(|(folder, recipe)| Job::Recipe(folder, recipe)),
    );
    Ok(jobs)
}

fn entry(context: &Context<'_>, reader: &mut ObjectReader, job: &Job<'_>) -> Option<Entry> {
    match job {
        Job::Recipe(folder, recipe) => context.entry(reader, folder, recipe),
        Job::Unclaimed(object) => {
            let text = "no record of the build says what it was compiled from";
            let problem = Problem::new("object-not-in-database", text);
            Some(unmapped(context, object, &problem))
        }
        Job::Product(file) => {
            let backend = context.origins.backend;
            let host = reader.read(file, backend).is_ok_and(|code| !code.device);
            let text = "device code, or what may be, that was compiled to no object";
            let problem = Problem::new("unsupported", text);
            (!host).then(|| unmapped(context, file, &problem))
        }
    }
}

/// The entry of a file of which only a problem is known.
fn unmapped(context: &Context<'_>, file: &Path, problem: &Problem) -> Entry {
    let name = context.name(file);
    let object = MapObject {
        source: name.clone(),
        compiled_source: None,
        target: String::new(),
        object: name,
        device: true,
        symbols: Vec::new(),
        deps: Vec::new(),
        offload_targets: Vec::new(),
        error: Some(problem.to_string()),
    };
    Entry {
        object,
        complete_deps: false,
        links: DeviceLinks::default(),
    }
}
