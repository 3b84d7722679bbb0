//! `k=v k=v …`: the fields of a header or footer line.

/// The fields of one line, in order. Words without `=` are the rest of a value with spaces (`exe`) and are
/// skipped.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fields<'a>(pub(super) &'a str);

impl<'a> Fields<'a> {
    pub(super) fn iter(self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.0.split(' ').filter_map(|word| word.split_once('='))
    }

    /// The value of a key that stands exactly once.
    pub(super) fn value(self, key: &str) -> Option<&'a str> {
        let mut values = self.iter().filter(|(k, _)| *k == key).map(|(_, v)| v);
        let first = values.next()?;
        values.next().is_none().then_some(first)
    }

    pub(super) fn repeats_a_key(self) -> bool {
        let mut seen: Vec<&str> = Vec::with_capacity(8);
        self.iter().any(|(key, _)| {
            let repeated = seen.contains(&key);
            seen.push(key);
            repeated
        })
    }
}

/// An unsigned decimal number: digits only, no sign, within `u64`.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}
