//! Where the watched packages are.

use std::path::Path;

/// Where the interpreter says that a watched package is, at this moment. A package whose first import is
/// still under way may have no place yet, or gain some.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The package's name.
    pub name: String,
    /// Its folders, each ending in `/`, or the file of a package that is one module.
    pub places: Vec<String>,
}

/// A folder, ending in `/`, or a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Spot {
    /// As the interpreter spells it.
    pub(crate) given: String,
    /// Without links, where that is another spelling.
    real: Option<String>,
}

impl Spot {
    pub(crate) fn new(given: String) -> Self {
        let real = real(&given).filter(|real| *real != given);
        Self { given, real }
    }

    /// The file as this place spells it, if it is here.
    fn holds(&self, file: &str) -> Option<String> {
        below(&self.given, file)
            .or_else(|| below(self.real.as_deref()?, file))
            .map(|rest| format!("{}{rest}", self.given))
    }
}

fn below<'a>(spot: &str, file: &'a str) -> Option<&'a str> {
    let rest = file.strip_prefix(spot)?;
    (spot.ends_with('/') || rest.is_empty()).then_some(rest)
}

/// The path without links; `None` where nothing is there, as in an archive.
fn real(path: &str) -> Option<String> {
    let mut text = Path::new(path).canonicalize().ok()?.to_str()?.to_owned();
    if path.ends_with('/') && !text.ends_with('/') {
        text.push('/');
    }
    Some(text)
}

/// The watched packages and, once it is known, the tests of the checkout.
#[derive(Debug, Default)]
pub(crate) struct Roots {
    spots: Vec<Spot>,
    found: Vec<String>,
    names: usize,
    tests: Option<Spot>,
}

/// Which of the watched things a file belongs to, and its path there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Home {
    Root(String),
    Tests(String),
}

impl Roots {
    pub(crate) fn new(names: usize, checkout: Option<&str>) -> Self {
        Self {
            names,
            tests: checkout
                .map(|checkout| Spot::new(format!("{}/tests/", checkout.trim_end_matches('/')))),
            ..Self::default()
        }
    }

    /// Takes what the interpreter says; the places that are new.
    pub(crate) fn update(&mut self, found: &[Found]) -> Vec<String> {
        let mut new = Vec::new();
        for package in found {
            for place in &package.places {
                if !place.starts_with('/') || self.spots.iter().any(|spot| spot.given == *place) {
                    continue;
                }
                self.spots.push(Spot::new(place.clone()));
                new.push(place.clone());
            }
            if !package.places.is_empty() && !self.found.contains(&package.name) {
                self.found.push(package.name.clone());
            }
        }
        new
    }

    /// Whether every watched package has a place.
    pub(crate) fn all_found(&self) -> bool {
        self.found.len() >= self.names
    }

    pub(crate) fn places(&self) -> impl Iterator<Item = &str> {
        self.spots.iter().map(|spot| spot.given.as_str())
    }

    pub(crate) fn tests(&self) -> Option<&str> {
        self.tests.as_ref().map(|spot| spot.given.as_str())
    }

    /// Where an absolute path belongs, by its spelling alone.
    pub(crate) fn locate(&self, file: &str) -> Option<Home> {
        let root = self.spots.iter().find_map(|spot| spot.holds(file));
        root.map(Home::Root)
            .or_else(|| Some(Home::Tests(self.tests.as_ref()?.holds(file)?)))
    }

    /// The same, also of a path that reaches it over links.
    pub(crate) fn locate_real(&self, file: &str) -> Option<Home> {
        self.locate(file).or_else(|| self.locate(&real(file)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(name: &str, places: &[&str]) -> Found {
        Found {
            name: name.to_owned(),
            places: places.iter().map(|&place| place.to_owned()).collect(),
        }
    }

    #[test]
    fn a_package_gains_places_as_its_import_goes_on() {
        let mut roots = Roots::new(2, None);
        assert!(roots.update(&[found("vllm", &[])]).is_empty());
        assert_eq!(roots.update(&[found("vllm", &["/s/vllm/"])]), ["/s/vllm/"]);
        assert!(!roots.all_found());
        let both = [
            found("vllm", &["/s/vllm/", "/p/vllm/"]),
            found("aiter", &["/s/aiter.py"]),
        ];
        assert_eq!(roots.update(&both), ["/p/vllm/", "/s/aiter.py"]);
        assert!(roots.all_found());
        assert!(roots.update(&both).is_empty());
    }

    #[test]
    fn a_file_belongs_to_the_folder_it_is_in_and_to_no_namesake() {
        let mut roots = Roots::new(1, Some("/co"));
        roots.update(&[found("vllm", &["/s/vllm/", "/s/one.py", "relative/"])]);
        for (file, home) in [
            ("/s/vllm/a.py", Some(Home::Root("/s/vllm/a.py".to_owned()))),
            ("/s/vllm_tools/a.py", None),
            ("/s/one.py", Some(Home::Root("/s/one.py".to_owned()))),
            ("/s/one.pyx", None),
            ("relative/a.py", None),
            (
                "/co/tests/a.py",
                Some(Home::Tests("/co/tests/a.py".to_owned())),
            ),
            ("/co/tests.py", None),
        ] {
            assert_eq!(roots.locate(file), home, "{file}");
        }
    }

    #[test]
    fn links_lead_to_the_same_place() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        fs_err::create_dir_all(base.join("real/vllm")).unwrap();
        fs_err::write(base.join("real/vllm/a.py"), "").unwrap();
        for link in ["link", "other"] {
            fs_err::os::unix::fs::symlink(base.join("real"), base.join(link)).unwrap();
        }
        let place = format!("{}/link/vllm/", base.display());
        let mut roots = Roots::new(1, None);
        roots.update(&[found("vllm", &[&place])]);
        for spelling in ["link", "real", "other"] {
            let file = format!("{}/{spelling}/vllm/a.py", base.display());
            assert_eq!(
                roots.locate_real(&file),
                Some(Home::Root(format!("{place}a.py"))),
                "{spelling}"
            );
        }
    }
}
