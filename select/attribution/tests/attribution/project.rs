//! Small projects, edits of them, and what is expected of each.

use kernrec_attribution::{
    Attribution, Build, ChangedFile, HostCode, Library, Object, Side, Sources, Unreadable,
};
use std::collections::BTreeMap;

/// A project: its files before the change and after it, and its objects.
#[derive(Debug, Clone, Default)]
pub(crate) struct Project {
    base: BTreeMap<String, Vec<u8>>,
    head: BTreeMap<String, Vec<u8>>,
    objects: Vec<(Vec<String>, Vec<String>)>,
    policy: HostCode,
}

/// What became of an edit.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Found {
    /// The kernels by name, sorted, one space between them.
    pub(crate) kernels: String,
    /// `drop`, or the doubts.
    pub(crate) class: String,
    /// The word, without `widened:`.
    pub(crate) word: String,
}

impl Project {
    /// One source and its kernels, separated by spaces.
    pub(crate) fn one(text: &str, kernels: &str) -> Self {
        Self::default().file("a.cu", text).object("a.cu", kernels)
    }

    pub(crate) fn file(mut self, path: &str, text: impl AsRef<[u8]>) -> Self {
        self.base.insert(path.to_owned(), text.as_ref().to_vec());
        self.head.insert(path.to_owned(), text.as_ref().to_vec());
        self
    }

    /// An object of these files and kernels, each separated by spaces. A kernel is named by its function's name, or by
    /// its whole symbol where that starts with an underscore.
    pub(crate) fn object(mut self, files: &str, kernels: &str) -> Self {
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect();
        self.objects.push((words(files), words(kernels)));
        self
    }

    pub(crate) fn policy(mut self, policy: HostCode) -> Self {
        self.policy = policy;
        self
    }

    /// A changed file: the text on the base side is replaced by the text of the head side, once.
    pub(crate) fn edit(mut self, path: &str, from: &str, to: &str) -> Self {
        let text = String::from_utf8(self.head[path].clone()).unwrap();
        assert_eq!(text.matches(from).count(), 1, "`{from}` in {path}");
        self.head
            .insert(path.to_owned(), text.replacen(from, to, 1).into_bytes());
        self
    }

    pub(crate) fn set_head(mut self, path: &str, text: Option<Vec<u8>>) -> Self {
        match text {
            Some(text) => self.head.insert(path.to_owned(), text),
            None => self.head.remove(path),
        };
        self
    }

    pub(crate) fn remove(mut self, path: &str) -> Self {
        self.base.remove(path);
        self.head.remove(path);
        self
    }

    pub(crate) fn attribute(&self, path: &str) -> Found {
        self.attribute_as(&ChangedFile::modified(path))
    }

    pub(crate) fn consulted(&self, path: &str) -> Vec<String> {
        self.found(&ChangedFile::modified(path)).0.consulted
    }

    pub(crate) fn attribute_as(&self, change: &ChangedFile) -> Found {
        let (found, names) = self.found(change);
        let mut kernels: Vec<&str> = found
            .kernels
            .iter()
            .map(|&kernel| names[kernel as usize].as_str())
            .collect();
        kernels.sort_unstable();
        let doubts: Vec<&str> = found.doubts.iter().map(|doubt| doubt.word()).collect();
        Found {
            kernels: kernels.join(" "),
            class: if found.may_drop() {
                "drop".to_owned()
            } else {
                doubts.join(" ")
            },
            word: found.word().trim_start_matches("widened:").to_owned(),
        }
    }

    fn found(&self, change: &ChangedFile) -> (Attribution, Vec<String>) {
        let names: Vec<String> = {
            let mut names: Vec<String> = self
                .objects
                .iter()
                .flat_map(|(_, kernels)| kernels.clone())
                .collect();
            names.sort();
            names.dedup();
            names
        };
        let symbols: Vec<String> = names.iter().map(|name| symbol(name)).collect();
        let number = |name: &String| u32::try_from(names.binary_search(name).unwrap()).unwrap();
        let build = Build {
            objects: self
                .objects
                .iter()
                .map(|(files, kernels)| Object {
                    files: files.iter().map(String::as_str).collect(),
                    symbols: kernels.iter().map(number).collect(),
                })
                .collect(),
            symbols: symbols.iter().map(String::as_str).collect(),
        };
        // Every file that differs is part of the change.
        let mut changes = vec![change.clone()];
        for path in self
            .base
            .keys()
            .filter(|path| self.base.get(*path) != self.head.get(*path))
        {
            let modified = ChangedFile::modified(path);
            if !changes
                .iter()
                .any(|change| change.base.as_ref() == Some(path))
            {
                changes.push(modified);
            }
        }
        let mut sources = self.clone();
        let mut library = Library::new(&changes, &mut sources);
        let found = library
            .attribute(&build, &changes, self.policy)
            .remove(0)
            .expect("a file of the build");
        (found, names)
    }
}

impl Sources for Project {
    fn read(&mut self, side: Side, path: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        let files = if side == Side::Base {
            &self.base
        } else {
            &self.head
        };
        Ok(files.get(path).cloned())
    }
}

fn symbol(name: &str) -> String {
    if name.starts_with('_') {
        name.to_owned()
    } else {
        format!("_Z{}{name}Pfi", name.len())
    }
}

/// The word of an edit that was narrowed.
pub(crate) const NARROWED: &str = "narrowed-to-changed-kernels";

/// Checks every edit by itself and reports all that differ.
///
/// An edit is a name, the text that is replaced, the text in its place, and what is expected: kernels; class; word
/// (without one, it was narrowed). A name that ends in ` in <path>` is about another file than `a.cu`.
pub(crate) fn check(project: &Project, edits: &str) {
    let mut wrong = Vec::new();
    for edit in edits.split("\n\n") {
        let lines: Vec<&str> = edit.trim().lines().collect();
        let [title, from, to, expected] = lines[..] else {
            panic!("not an edit: {edit}");
        };
        let text = |line: &str, mark: &str| {
            let text = line.strip_prefix(mark).expect("a mark");
            text.strip_prefix(' ').unwrap_or(text).replace("\\n", "\n")
        };
        let path = title
            .rsplit_once(" in ")
            .map(|(_, path)| path)
            .filter(|path| path.contains('.'));
        let path = path.unwrap_or("a.cu");
        let found = project
            .clone()
            .edit(path, &text(from, "-"), &text(to, "+"))
            .attribute(path);
        let expected = text(expected, "=");
        let parts: Vec<&str> = expected.split("; ").collect();
        let expected = Found {
            kernels: parts[0].to_owned(),
            class: parts[1].to_owned(),
            word: parts.get(2).unwrap_or(&NARROWED).to_string(),
        };
        if found != expected {
            wrong.push(format!(
                "{title}:\n    found    {found:?}\n    expected {expected:?}"
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} edits:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
