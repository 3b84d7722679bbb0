//! Gates that compare with the record to be replaced.

use super::{GateOptions, JoinShare, Refusal};
use kernrec_schemas::manifest::Counts;

/// Every gate that refuses to replace a record of these counts.
pub fn relative(counts: &Counts, current: &Counts, options: &GateOptions) -> Vec<Refusal> {
    if options.allow_shrink {
        return Vec::new();
    }
    let mut refusals = Vec::new();
    for (what, found, current) in [
        ("usable_rows", counts.usable_rows, current.usable_rows),
        ("kernels", counts.kernels, current.kernels),
        ("functions", counts.functions, current.functions),
    ] {
        if found.saturating_mul(2) < current {
            refusals.push(Refusal::Collapse {
                what,
                found,
                current,
            });
        }
    }
    if share_fell(counts, current) {
        refusals.push(Refusal::NamesDoNotJoin {
            joined: counts.joined,
            symbols: counts.symbols,
            current: Some(JoinShare {
                joined: current.joined,
                symbols: current.symbols,
            }),
        });
    }
    refusals
}

/// `joined / symbols` is below half of the current record's, without rounding.
fn share_fell(counts: &Counts, current: &Counts) -> bool {
    let [joined, symbols, current_joined, current_symbols] = [
        counts.joined,
        counts.symbols,
        current.joined,
        current.symbols,
    ]
    .map(u128::from);
    // Four factors of 64 bits would not fit; two and a doubling do, short of 2^127.
    (joined * current_symbols).saturating_mul(2) < current_joined * symbols
}
