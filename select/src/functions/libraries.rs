//! Which packages a distribution brings.

use std::collections::{BTreeMap, BTreeSet};

/// What somebody declared: by a distribution's name, all top-level packages that it brings. Nothing else says so: a
/// distribution may bring packages of any name.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Libraries(BTreeMap<String, BTreeSet<String>>);

/// A declaration that is none.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` does not name a distribution and its packages: expected NAME=PACKAGE[,PACKAGE]")]
pub struct LibrariesError {
    /// The text as given.
    pub text: String,
}

impl Libraries {
    /// Adds `NAME=PACKAGE[,PACKAGE]...`; given again for a name, the packages of all.
    pub fn declare(&mut self, text: &str) -> Result<(), LibrariesError> {
        let malformed = || LibrariesError {
            text: text.to_owned(),
        };
        let (name, packages) = text.split_once('=').ok_or_else(malformed)?;
        let packages: BTreeSet<String> = packages.split(',').map(str::to_owned).collect();
        let is_package = |package: &String| !package.is_empty() && package.chars().all(is_of_name);
        if name.is_empty() || !name.chars().all(is_of_name) || !packages.iter().all(is_package) {
            return Err(malformed());
        }
        self.0.entry(normal(name)).or_default().extend(packages);
        Ok(())
    }

    /// The packages of a distribution, by its normal name; `None` if nobody declared them.
    pub(super) fn packages(&self, distribution: &str) -> Option<&BTreeSet<String>> {
        self.0.get(distribution)
    }
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || matches!(c, '-' | '_' | '.')
}

/// A name as indexes compare it: lower case, one `-` for each run of `-`, `_` and `.`.
pub(super) fn normal(name: &str) -> String {
    let mut normal = String::with_capacity(name.len());
    for c in name.chars() {
        match c {
            '-' | '_' | '.' if normal.ends_with('-') => {}
            '-' | '_' | '.' => normal.push('-'),
            _ => normal.extend(c.to_lowercase()),
        }
    }
    normal
}

#[cfg(test)]
mod tests {
    use super::{Libraries, normal};

    #[test]
    fn a_declaration_names_a_distribution_and_all_its_packages() {
        let mut libraries = Libraries::default();
        libraries
            .declare("Flash_Attn=flash_attn,flash_attn_2_cuda")
            .unwrap();
        libraries.declare("flash-attn=hopper").unwrap();
        let packages = libraries.packages("flash-attn").unwrap();
        assert_eq!(packages.len(), 3);
        assert_eq!(normal("A.-_b"), "a-b");
        for text in ["", "a", "a=", "=a", "a=b,", "a b=c", "a=b/c"] {
            assert!(libraries.declare(text).is_err(), "{text}");
        }
    }
}
