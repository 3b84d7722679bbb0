//! Numbers and sets of the maps' symbols.

/// A symbol of the pair's maps: a number that means something within one [`Index`](super::Index) only.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SymbolId(pub(super) u32);

impl SymbolId {
    /// The plain number.
    pub(crate) const fn number(self) -> u32 {
        self.0
    }

    /// The symbol of a plain number.
    pub(crate) const fn of_number(number: u32) -> Self {
        Self(number)
    }
}

/// A set of symbols: one bit each, so that uniting hundreds of long lists costs what their items cost.
#[derive(Debug)]
pub(crate) struct SymbolSet {
    words: Vec<u64>,
}

impl SymbolSet {
    /// An empty set for symbols below `count`.
    pub(crate) fn new(count: usize) -> Self {
        Self {
            words: vec![0; count.div_ceil(64)],
        }
    }

    pub(crate) fn insert(&mut self, symbol: SymbolId) {
        self.words[symbol.0 as usize / 64] |= 1 << (symbol.0 % 64);
    }

    /// The symbols, ascending.
    pub(crate) fn to_vec(&self) -> Vec<SymbolId> {
        let mut symbols = Vec::new();
        for (word, base) in self.words.iter().zip((0_u32..).step_by(64)) {
            let mut rest = *word;
            while rest != 0 {
                symbols.push(SymbolId(base + rest.trailing_zeros()));
                rest &= rest - 1;
            }
        }
        symbols
    }
}
