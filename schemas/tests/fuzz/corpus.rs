//! The kept inputs of each target.

use std::path::Path;

/// A target and the folder of its kept inputs.
pub(crate) struct Target {
    /// Its folder below `tests/corpus/`.
    pub(crate) folder: &'static str,
    /// The function; it panics when a property does not hold.
    pub(crate) run: fn(&[u8]),
}

impl Target {
    /// Every kept input, in the order of their names.
    pub(crate) fn corpus(&self) -> Vec<Vec<u8>> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("tests/corpus")
            .join(self.folder);
        let mut paths: Vec<_> = fs_err::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        paths.sort();
        paths
            .into_iter()
            .map(|path| fs_err::read(path).unwrap())
            .collect()
    }

    /// Runs the target on every kept input.
    pub(crate) fn replay(&self) {
        let corpus = self.corpus();
        assert!(!corpus.is_empty(), "{} has no corpus", self.folder);
        for input in &corpus {
            (self.run)(input);
        }
    }
}
