//! Which items differ between two sides of a file.
//!
//! Items are compared by what a compiler sees of them, together with the namespaces and conditions around them: a
//! comment, a blank line or an item that other lines moved around is no change. The items that both sides share in the
//! same order are unchanged; every other one changed on its side.

use crate::lex::{Token, TokenKind};
use crate::source::Source;
use foldhash::fast::FixedState;
use std::hash::{BuildHasher, Hash, Hasher};

/// The most pairs of items that are compared; beyond that, all items between the first and the last change changed.
const MAX_PAIRS: usize = 4 << 20;

/// The items that are on one side only.
#[derive(Debug, Default)]
pub(crate) struct ItemDiff {
    pub(crate) base: Vec<u32>,
    pub(crate) head: Vec<u32>,
    /// The items that both sides share, by their numbers on each.
    pub(crate) same: Vec<(u32, u32)>,
}

pub(crate) fn diff(base: &Source, head: &Source) -> ItemDiff {
    let (left, right) = (signatures(base), signatures(head));
    let same =
        |at: usize, other: usize| left[at] == right[other] && same_item(base, at, head, other);
    let most = left.len().min(right.len());
    let prefix = (0..most).take_while(|&at| same(at, at)).count();
    let suffix = (0..most - prefix)
        .take_while(|&back| same(left.len() - 1 - back, right.len() - 1 - back))
        .count();
    let (left_end, right_end) = (left.len() - suffix, right.len() - suffix);
    let (kept_left, kept_right) = common(prefix..left_end, prefix..right_end, &same);
    let changed = |from: usize, to: usize, kept: &[usize]| {
        (from..to)
            .filter(|at| kept.binary_search(at).is_err())
            .filter_map(|at| u32::try_from(at).ok())
            .collect()
    };
    let front = (0..prefix).map(|at| (at, at));
    let middle = kept_left.iter().copied().zip(kept_right.iter().copied());
    let back = (0..suffix).map(|at| (left_end + at, right_end + at));
    let number = |at: usize| u32::try_from(at).unwrap_or(u32::MAX);
    ItemDiff {
        base: changed(prefix, left_end, &kept_left),
        head: changed(prefix, right_end, &kept_right),
        same: front
            .chain(middle)
            .chain(back)
            .map(|(left, right)| (number(left), number(right)))
            .collect(),
    }
}

/// A longest common subsequence: the places on each side.
fn common(
    left: std::ops::Range<usize>,
    right: std::ops::Range<usize>,
    same: &dyn Fn(usize, usize) -> bool,
) -> (Vec<usize>, Vec<usize>) {
    let (rows, columns) = (left.len(), right.len());
    if rows.saturating_mul(columns) > MAX_PAIRS {
        return (Vec::new(), Vec::new());
    }
    let width = columns + 1;
    let mut lengths = vec![0_u32; (rows + 1) * width];
    for row in (0..rows).rev() {
        for column in (0..columns).rev() {
            lengths[row * width + column] = if same(left.start + row, right.start + column) {
                lengths[(row + 1) * width + column + 1] + 1
            } else {
                lengths[(row + 1) * width + column].max(lengths[row * width + column + 1])
            };
        }
    }
    let (mut row, mut column) = (0, 0);
    let (mut kept_left, mut kept_right) = (Vec::new(), Vec::new());
    while row < rows && column < columns {
        if same(left.start + row, right.start + column) {
            kept_left.push(left.start + row);
            kept_right.push(right.start + column);
            row += 1;
            column += 1;
        } else if lengths[(row + 1) * width + column] >= lengths[row * width + column + 1] {
            row += 1;
        } else {
            column += 1;
        }
    }
    (kept_left, kept_right)
}

fn signatures(source: &Source) -> Vec<u64> {
    source
        .items()
        .map(|(_, item)| {
            let mut hasher = FixedState::default().build_hasher();
            item.shape.hash(&mut hasher);
            visible(source, item).for_each(|token| token.hash(&mut hasher));
            hasher.finish()
        })
        .collect()
}

fn same_item(base: &Source, at: usize, head: &Source, other: usize) -> bool {
    let (left, right) = (&base.segments.items[at], &head.segments.items[other]);
    left.shape == right.shape && visible(base, left).eq(visible(head, right))
}

/// What a compiler sees of an item: its tokens, and those of the conditions and namespaces around it.
fn visible<'s>(
    source: &'s Source,
    item: &'s crate::segment::Item,
) -> impl Iterator<Item = Option<(TokenKind, bool)>> + 's {
    let own = source.tokens(&item.tokens).iter();
    let conditions = source.conditions(item);
    let scopes = source.scopes_of(item);
    own.map(Some)
        .chain([None])
        .chain(conditions.map(Some))
        .chain([None])
        .chain(scopes.map(Some))
        .map(|token: Option<&Token>| token.map(|token| (token.kind, token.glued)))
}

/// Whether two items have the same head, conditions and namespaces.
pub(crate) fn same_head(base: &Source, left: u32, head: &Source, right: u32) -> bool {
    let upto_body = |source: &Source, number: u32| {
        let mut item = source.item(number).clone();
        item.tokens.end = item.body;
        let kinds: Vec<_> = visible(source, &item).collect();
        kinds
    };
    upto_body(base, left) == upto_body(head, right)
}
