//! Keys for one run of one program.

use kernrec_store::{Key, StoreError, pointers};

/// A prefix that nobody else uses.
#[derive(Debug)]
pub(crate) struct Scratch {
    prefix: Key,
    /// Random text for content that no cache can know.
    mark: String,
}

impl Scratch {
    pub(crate) fn new() -> Result<Self, StoreError> {
        let nonce = pointers::fresh_nonce()?;
        Ok(Self {
            prefix: Key::scratch(&nonce),
            mark: nonce.as_str().to_owned(),
        })
    }

    pub(crate) fn prefix(&self) -> &Key {
        &self.prefix
    }

    /// A key below the prefix.
    ///
    /// # Panics
    /// When `name` makes no key: a mistake in this crate.
    #[expect(clippy::expect_used, reason = "names are made of constants")]
    pub(crate) fn key(&self, name: &str) -> Key {
        Key::new(&format!("{}/{name}", self.prefix)).expect("only safe names are used")
    }

    /// Content of this length, different in each run and for each `salt`.
    pub(crate) fn content(&self, salt: usize, length: usize) -> Vec<u8> {
        let start = format!("{}.{salt}.", self.mark).into_bytes();
        start.iter().copied().cycle().take(length).collect()
    }
}
