//! `k=v k=v …`: the fields of a header or footer line.

/// The most fields a line may have; recorders write at most eight. It bounds the search for repeated keys,
/// which compares each with each.
const MAX_FIELDS: usize = 64;

/// The fields of one line, in order. Words without `=` are the rest of a value with spaces (`exe`) and are
/// skipped.
#[derive(Debug, Clone)]
pub(super) struct Fields<'a> {
    pairs: Vec<(&'a str, &'a str)>,
    too_many: bool,
}

impl<'a> Fields<'a> {
    pub(super) fn parse(text: &'a str) -> Self {
        let mut words = text.split(' ').filter_map(|word| word.split_once('='));
        let mut pairs = Vec::with_capacity(8);
        pairs.extend(words.by_ref().take(MAX_FIELDS));
        Self {
            pairs,
            too_many: words.next().is_some(),
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.pairs.iter().copied()
    }

    pub(super) fn has(&self, key: &str) -> bool {
        self.iter().any(|(k, _)| k == key)
    }

    /// The value of a key that stands exactly once.
    pub(super) fn value(&self, key: &str) -> Option<&'a str> {
        let mut values = self.iter().filter(|(k, _)| *k == key);
        let (_, first) = values.next()?;
        values.next().is_none().then_some(first)
    }

    /// Whether a key stands twice; a line with more fields than any writer's counts as such.
    pub(super) fn repeats_a_key(&self) -> bool {
        let repeated = |(n, (key, _)): (usize, &(&str, &str))| {
            self.pairs[..n].iter().any(|(earlier, _)| earlier == key)
        };
        self.too_many || self.pairs.iter().enumerate().any(repeated)
    }
}

/// An unsigned decimal number: digits only, no sign, within `u64`.
pub(super) fn number(text: &str) -> Option<u64> {
    let digits = !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}
