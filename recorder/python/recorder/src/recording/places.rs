//! Where files belong, as the watched packages are found.

use super::output::place_line;
use super::{Kept, MAX_FUNCTIONS, MODULE, Recording};
use crate::files::{ModuleFacts, Place, classify, is_below};
use crate::line::{is_plain, is_writable};
use crate::roots::Found;
use crate::setup::{Loaded, Trouble};
use std::path::Path;

impl Recording {
    pub(super) fn take_roots(&mut self, found: &[Found]) {
        let new = self.roots.update(found);
        if new.is_empty() {
            return;
        }
        if !new.iter().all(|place| is_writable(place)) {
            // No line can name it, and none of its functions.
            self.trouble(Trouble::InvalidName);
        }
        if self.file.is_some() {
            for place in new.iter().filter(|place| is_writable(place)) {
                let line = place_line("#root", place, true);
                self.queue_line(&line);
            }
        }
        self.met = true;
        self.classify_again();
        if self.roots.all_found() && !self.forgot {
            self.forget();
        }
        self.flush_or_create();
    }

    /// Files that were met before their package was, get their place, and what was entered of them is noted.
    fn classify_again(&mut self) {
        let mut moved = Vec::new();
        for (name, file) in &mut self.files {
            if file.place.watched().is_some() {
                continue;
            }
            let place = classify(name, &file.facts, &self.roots, &self.setup);
            if let Some(path) = place.watched() {
                let is_root = matches!(place, Place::Root(_));
                moved.push((file.id, path.to_owned(), is_root));
                file.place = place;
            }
        }
        moved.sort_unstable();
        if self.forgot && !moved.is_empty() {
            self.trouble(Trouble::LateRoot);
        }
        for (id, path, is_root) in moved {
            for (qualname, line) in self.kept.remove(&id).unwrap_or_default() {
                self.note(id, &path, is_root, &qualname, line);
            }
        }
    }

    /// Remembers a function of a file that is not watched, as long as a watched package may still be found
    /// where it is. Generated code and the standard library are in no package.
    pub(super) fn keep(&mut self, file: &str, id: u32, qualname: &str, line: u32) {
        let place = self.files.get(file).map(|file| &file.place);
        let is_standard = is_below(&self.setup.standard_library, file);
        if self.forgot || (matches!(place, Some(Place::Other)) && is_standard) {
            return;
        }
        if self.kept_len >= MAX_FUNCTIONS {
            self.forget();
            return self.trouble(Trouble::TooManyFunctions);
        }
        self.kept_len += 1;
        self.kept
            .entry(id)
            .or_default()
            .push((qualname.into(), line));
    }

    fn forget(&mut self) {
        self.forgot = true;
        self.kept = Kept::new();
        self.kept_len = 0;
    }

    pub(super) fn place_of(&self, module: &Loaded) -> Place {
        let facts = ModuleFacts {
            name: Some(module.name.clone()),
            file: None,
        };
        classify(&module.file, &facts, &self.roots, &self.setup)
    }

    pub(super) fn note_library(&mut self, place: &Place) {
        if let Place::Library(name) = place
            && is_plain(name)
            && self.packages.insert(name.clone())
        {
            let line = format!("#pkg\t{name}\n");
            self.queue_line(&line);
        }
    }

    /// A module whose body was run and not reported ran where nothing is; so may have its functions.
    pub(super) fn look_for_unseen(&mut self, modules: &[Loaded]) {
        for module in modules.iter().filter(|module| module.executed) {
            let place = self.place_of(module);
            let source = Path::new(&module.file).extension() == Some("py".as_ref());
            let Some(path) = place.watched().filter(|_| source) else {
                continue;
            };
            if self.bodies.contains(path) {
                continue;
            }
            self.trouble(Trouble::UnseenCode);
            if !self.files.contains_key(module.file.as_str()) {
                self.meet(&module.file, ModuleFacts::default(), &[]);
            }
            self.entered(&module.file, MODULE, 1);
        }
    }
}
