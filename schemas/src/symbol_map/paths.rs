//! Paths of a map's objects, each text kept once.
//!
//! A map of 570 objects names 170,000 dependencies and 4,000 different ones: keeping a copy of each would
//! cost more time than reading the document.

use serde::Serializer;
use serde::de::{Deserialize, Deserializer, Visitor};
use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

/// A text, borrowed from the document when it has no escapes. (Within a list, `Cow` alone never borrows.)
pub(super) struct Text<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_str(TextVisitor)
    }
}

struct TextVisitor;

impl<'de> Visitor<'de> for TextVisitor {
    type Value = Text<'de>;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a path")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<Text<'de>, E> {
        Ok(Text(Cow::Owned(text.to_owned())))
    }
}

/// The texts met so far.
#[derive(Default)]
pub(super) struct Paths(HashSet<Arc<str>, foldhash::fast::RandomState>);

impl Paths {
    /// The one copy of each text, in order.
    pub(super) fn shared(&mut self, texts: &[Text<'_>]) -> Vec<Arc<str>> {
        texts.iter().map(|text| self.one(&text.0)).collect()
    }

    fn one(&mut self, text: &str) -> Arc<str> {
        if let Some(known) = self.0.get(text) {
            return Arc::clone(known);
        }
        let new: Arc<str> = Arc::from(text);
        self.0.insert(Arc::clone(&new));
        new
    }
}

/// Writes shared texts as an array of strings.
pub(super) fn serialize<S: Serializer>(paths: &[Arc<str>], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(paths.iter().map(|path| &**path))
}
