//! The `#start` line.

use std::collections::BTreeMap;

/// What a process said of itself.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FunctionHeader {
    /// The fields, `key=value` each; environment variables under their own names.
    pub fields: BTreeMap<String, String>,
    /// A field stood twice, one was none, or the process has no id: what it says cannot be believed.
    pub malformed: bool,
}

impl FunctionHeader {
    pub(super) fn parse<'a>(fields: impl Iterator<Item = &'a str>) -> Self {
        let mut header = Self::default();
        for field in fields {
            let taken = field.split_once('=').is_some_and(|(key, value)| {
                let before = header.fields.insert(key.to_owned(), value.to_owned());
                before.is_none()
            });
            header.malformed |= !taken;
        }
        header.malformed |= header.process().is_none();
        header
    }

    /// A field; one that is empty counts as missing.
    pub fn field(&self, key: &str) -> Option<&str> {
        let value = self.fields.get(key)?;
        (!value.is_empty()).then_some(value)
    }

    /// The process.
    pub fn process(&self) -> Option<u32> {
        self.field("pid")?.parse().ok()
    }

    /// The process that forked this one while it was recorded.
    pub fn forked_from(&self) -> Option<u32> {
        self.field("origin")?.strip_prefix("fork:")?.parse().ok()
    }

    /// The interpreter's version, `3.12.1`.
    pub fn interpreter(&self) -> Option<&str> {
        self.field("py")
    }
}
