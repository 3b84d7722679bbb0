//! What artifacts call themselves. A name comes from a job, so it is never a path before it was looked at.

use kernrec_store::bundle::Part;

/// The folder that recordings are below.
pub(crate) const ROOT: &str = ".kernrec";
const MAX_PATH: usize = 1024;
const MAX_COMPONENT: usize = 255;
/// How the names of bundles end.
const BUNDLE: &str = ".tar.zst";

/// What an artifact is, by its name below [`ROOT`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// A bundle.
    Bundle,
    /// A file in a job's folder.
    InJob {
        /// The folder.
        folder: &'a str,
        /// The file.
        name: &'a str,
    },
    /// Nothing of ours.
    Other,
}

/// True for a relative path of plain components: no pattern, no way out of a folder, nothing a terminal acts on.
pub(crate) fn is_safe(path: &str) -> bool {
    path.len() <= MAX_PATH && path.split('/').all(is_component)
}

fn is_component(part: &str) -> bool {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"._-:+@=,~".contains(&b);
    let moves = matches!(part, "" | "." | "..");
    !moves && part.len() <= MAX_COMPONENT && part.bytes().all(plain) && !part.starts_with('-')
}

/// What stands at a safe path; with or without the folder `.kernrec` in front.
pub(crate) fn place(path: &str) -> Place<'_> {
    let below = path
        .strip_prefix(ROOT)
        .and_then(|rest| rest.strip_prefix('/'));
    let mut parts = below.unwrap_or(path).split('/');
    match (parts.next(), parts.next(), parts.next()) {
        (Some(name), None, None) | (Some(_), Some(name), None) if name.ends_with(BUNDLE) => {
            Place::Bundle
        }
        (Some(folder), Some(name), None) => Place::InJob { folder, name },
        _ => Place::Other,
    }
}

/// True for a file of a job's folder without which the job would look as if it had done less than it did.
pub(crate) fn is_evidence(name: &str) -> bool {
    Part::of(name.as_bytes()).is_some()
}

/// True for the file name of a symbol map.
pub(crate) fn is_map(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_document = [".json", ".json.gz", ".json.zst"]
        .iter()
        .any(|end| name.ends_with(end));
    let called = |stem: &str| name.contains(stem);
    is_document && (called("symbol_map") || called("symbol-map"))
}

#[cfg(test)]
mod tests {
    use super::{Place, is_map, is_safe, place};
    use proptest::prelude::*;
    use std::path::{Component, Path};

    #[test]
    fn names_that_lead_elsewhere_are_not_safe() {
        for bad in [
            "",
            "/etc/passwd",
            "../up",
            ".kernrec/../../up",
            "a//b",
            "a/./b",
            "a\\b",
            ".kernrec/*",
            ".kernrec/a?b",
            "a\nb",
            "a\0b",
            "\u{202e}a",
            "-rf",
            ".kernrec/--build/x",
        ] {
            assert!(!is_safe(bad), "{bad:?}");
        }
        assert!(!is_safe(&"a".repeat(256)));
        assert!(is_safe(".kernrec/0190-ab/kern.7.txt"));
    }

    #[test]
    fn places() {
        let job = Place::InJob {
            folder: "j-1",
            name: "kern.7.txt",
        };
        for (path, expected) in [
            (".kernrec/ab.tar.zst", Place::Bundle),
            ("ab.tar.zst", Place::Bundle),
            (".kernrec/j-1/ab.tar.zst", Place::Bundle),
            (".kernrec/j-1/kern.7.txt", job),
            ("j-1/kern.7.txt", job),
            (".kernrec/kern.7.txt", Place::Other),
            (".kernrec/a/b/c", Place::Other),
            (".kernrecs/j-1/kern.7.txt", Place::Other),
        ] {
            assert_eq!(place(path), expected, "{path}");
        }
    }

    #[test]
    fn maps_by_name() {
        for name in [
            "kernel_symbol_map.json.gz",
            "out/kernel_symbol_map.rocm.json.gz",
            "kernel_symbol_map.cu12.json.zst",
            "symbol-map.json",
        ] {
            assert!(is_map(name), "{name}");
        }
        for name in [
            "kernel_table.json.gz",
            "kernel_symbol_map.txt",
            "symbol_map/readme.json.md",
        ] {
            assert!(!is_map(name), "{name}");
        }
    }

    proptest! {
        #[test]
        fn a_safe_name_stays_below_its_folder(path in r"[./\\a-z*:~-]{0,12}") {
            if is_safe(&path) {
                let plain = |part: Component<'_>| matches!(part, Component::Normal(_));
                prop_assert!(Path::new(&path).components().all(plain));
            }
        }
    }
}
