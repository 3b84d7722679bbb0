//! What a code object's file is: watched, a library's, or nothing that is recorded.

use crate::roots::{Home, Roots};
use crate::setup::Setup;
use std::path::Path;

/// What the module says that a function of an unknown file belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ModuleFacts {
    /// `__name__` of the function's globals.
    pub name: Option<String>,
    /// `__file__` of the function's globals.
    pub file: Option<String>,
}

/// A part that the functions of a file play, of which more than their being entered matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// Takes the code objects that `torch.compile` traces.
    Takes,
    /// Traces them.
    Traces,
}

impl Part {
    /// The part of a file. `torch.compile` follows calls by reading code, so what it traces runs without being
    /// entered; PyTorch 2.0 and all later versions read it in the one function and run through it in the other.
    pub(crate) fn of(file: &str) -> Option<Self> {
        match file.rsplit_once("/torch/_dynamo/")?.1 {
            "bytecode_transformation.py" => Some(Self::Takes),
            "symbolic_convert.py" => Some(Self::Traces),
            _ => None,
        }
    }

    /// Whether it is this function that plays it.
    pub(crate) fn is_played_by(self, qualname: &str) -> bool {
        qualname
            == match self {
                Self::Takes => "cleaned_instructions",
                Self::Traces => "InstructionTranslatorBase.run",
            }
    }
}

/// Where a file belongs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Place {
    /// A watched package; the path that is written.
    Root(String),
    /// The checkout's tests; the path that is written.
    Tests(String),
    /// A third-party library, by its top-level name.
    Library(String),
    /// The standard library, generated code, or a file of no package.
    Other,
}

impl Place {
    /// The path that is written, if functions of the file are.
    pub(crate) fn watched(&self) -> Option<&str> {
        match self {
            Self::Root(path) | Self::Tests(path) => Some(path),
            Self::Library(_) | Self::Other => None,
        }
    }
}

/// Says where a file belongs.
pub(crate) fn classify(file: &str, facts: &ModuleFacts, roots: &Roots, setup: &Setup) -> Place {
    let path = absolute(file);
    if let Some(home) = roots.locate(&path) {
        return watched(home);
    }
    if path.starts_with(&setup.own_folder) && !setup.own_folder.is_empty() {
        return Place::Other;
    }
    if let Some(name) = installed_package(&path) {
        return Place::Library(name.to_owned());
    }
    if is_below(&setup.standard_library, &path) {
        return Place::Other;
    }
    roots
        .locate_real(&path)
        .or_else(|| moved(&path, facts, roots))
        .map_or_else(|| unwatched(&path, facts, setup), watched)
}

fn watched(home: Home) -> Place {
    match home {
        Home::Root(path) => Place::Root(path),
        Home::Tests(path) => Place::Tests(path),
    }
}

/// Code compiled from text has something like `<string>` or `<eval_with_key>.7` for a file.
pub(crate) fn is_generated(file: &str) -> bool {
    file.is_empty() || file.starts_with('<')
}

/// A cached compilation of a tree that was moved names the file where it was. The module knows better.
fn moved(path: &str, facts: &ModuleFacts, roots: &Roots) -> Option<Home> {
    let file = absolute(facts.file.as_deref()?);
    let same_name = Path::new(&file).file_name()? == Path::new(path).file_name()?;
    (same_name && !Path::new(path).exists())
        .then(|| roots.locate_real(&file))
        .flatten()
}

/// The name below the last folder that packages are installed in.
fn installed_package(path: &str) -> Option<&str> {
    let end = ["/site-packages/", "/dist-packages/"]
        .into_iter()
        .filter_map(|folder| path.rfind(folder).map(|start| start + folder.len()))
        .max()?;
    // A module's file may be `six.py` or `_cffi.cpython-312-x86_64-linux-gnu.so`.
    let name = path[end..].split(['/', '.']).next()?;
    (!name.is_empty()).then_some(name)
}

/// Whether a path is in a folder that is known.
pub(crate) fn is_below(folder: &str, path: &str) -> bool {
    !folder.is_empty()
        && path
            .strip_prefix(folder)
            .is_some_and(|rest| rest.starts_with('/'))
}

/// A file of no known folder: an editable installation or a script. The module's name tells, unless it is
/// one of the checkout's own files.
fn unwatched(path: &str, facts: &ModuleFacts, setup: &Setup) -> Place {
    let in_checkout = setup
        .checkout
        .as_deref()
        .is_some_and(|checkout| is_below(checkout.trim_end_matches('/'), path));
    let name = facts.name.as_deref().unwrap_or_default();
    let top = name.split('.').next().unwrap_or_default();
    // An interpreter's own hooks are no library, whoever fills them.
    let is_hook = matches!(top, "sitecustomize" | "usercustomize");
    let is_script = top.is_empty() || top.starts_with("__") || is_hook;
    let is_standard = setup.standard_names.iter().any(|name| name == top);
    if in_checkout || is_script || is_standard {
        return Place::Other;
    }
    Place::Library(top.to_owned())
}

/// A path from the root, without `.` and `..`: those of a file name are meant by its spelling.
fn absolute(file: &str) -> String {
    let mut parts: Vec<&str> = Vec::new();
    let folder = if file.starts_with('/') {
        String::new()
    } else {
        std::env::current_dir()
            .ok()
            .and_then(|folder| folder.to_str().map(str::to_owned))
            .unwrap_or_default()
    };
    let is_plain = !file.contains("/.") && !file.contains("//");
    if folder.is_empty() && is_plain {
        return file.to_owned();
    }
    for part in folder.split('/').chain(file.split('/')) {
        match part {
            "" | "." => {}
            ".." => drop(parts.pop()),
            part => parts.push(part),
        }
    }
    format!("/{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::roots::Found;

    fn setup() -> Setup {
        Setup {
            checkout: Some("/co".to_owned()),
            standard_library: "/py/lib/python3.12".to_owned(),
            own_folder: "/py/lib/python3.12/site-packages/_kernrec_python/".to_owned(),
            standard_names: vec!["json".to_owned()],
            ..Setup::default()
        }
    }

    fn place(file: &str, name: &str, module_file: &str) -> Place {
        let mut roots = Roots::new(1, Some("/co"));
        roots.update(&[Found {
            name: "vllm".to_owned(),
            places: vec!["/co/vllm/".to_owned()],
        }]);
        let facts = ModuleFacts {
            name: Some(name.to_owned()),
            file: Some(module_file.to_owned()),
        };
        classify(file, &facts, &roots, &setup())
    }

    #[test]
    fn a_file_has_one_place() {
        let library = |name: &str| Place::Library(name.to_owned());
        let installed = "/py/lib/python3.12/site-packages";
        for (file, module, expected) in [
            (
                "/co/vllm/a.py",
                "vllm.a",
                Place::Root("/co/vllm/a.py".to_owned()),
            ),
            (
                "/co/x/../vllm//a.py",
                "vllm.a",
                Place::Root("/co/vllm/a.py".to_owned()),
            ),
            (
                "/co/tests/a.py",
                "tests.a",
                Place::Tests("/co/tests/a.py".to_owned()),
            ),
            (
                &format!("{installed}/torch/nn/a.py"),
                "torch.nn.a",
                library("torch"),
            ),
            (&format!("{installed}/six.py"), "six", library("six")),
            (
                &format!("{installed}/_cffi.cpython-312-x86_64-linux-gnu.so"),
                "_cffi",
                library("_cffi"),
            ),
            (
                &format!("{installed}/_kernrec_python/__init__.py"),
                "x",
                Place::Other,
            ),
            (
                "/usr/lib/python3/dist-packages/yaml/a.py",
                "yaml.a",
                library("yaml"),
            ),
            (
                "/py/lib/python3.12/json/decoder.py",
                "json.decoder",
                Place::Other,
            ),
            ("/src/mylib/a.py", "mylib.a", library("mylib")),
            ("/src/run.py", "__main__", Place::Other),
            ("/co/tools/a.py", "tools.a", Place::Other),
            ("/elsewhere/json/a.py", "json.a", Place::Other),
        ] {
            assert_eq!(place(file, module, ""), expected, "{file}");
        }
    }

    #[test]
    fn a_cached_compilation_of_a_moved_tree_is_told_by_its_module() {
        assert_eq!(
            place("/old/vllm/a.py", "vllm.a", "/co/vllm/a.py"),
            Place::Root("/co/vllm/a.py".to_owned())
        );
        assert_eq!(
            place("/old/vllm/b.py", "vllm.a", "/co/vllm/a.py"),
            Place::Library("vllm".to_owned()),
            "code of another file that was run in the module"
        );
    }
}
