//! Names inside mangled symbols (formats.md section 12): `<length><identifier>` parts.

use foldhash::fast::RandomState;
use std::collections::{HashMap, HashSet};

/// Symbols by the names in them.
#[derive(Debug, Default)]
pub(crate) struct Joined<'a> {
    by_name: HashMap<&'a str, Vec<u32>, RandomState>,
    own: Vec<Option<&'a str>>,
    kernels: HashSet<&'a str, RandomState>,
}

impl<'a> Joined<'a> {
    pub(crate) fn of(symbols: &[&'a str]) -> Self {
        let mut joined = Self::default();
        for (number, symbol) in (0_u32..).zip(symbols) {
            for name in parts(symbol) {
                let numbers = joined.by_name.entry(name).or_default();
                if numbers.last() != Some(&number) {
                    numbers.push(number);
                }
            }
            let own = own_name(symbol);
            joined.kernels.extend(own);
            joined.own.push(own);
        }
        joined
    }

    /// The symbols that a kernel of this name may have, ascending: itself if it is not mangled, and every one with the
    /// name as a part, wherever it stands.
    pub(crate) fn symbols(&self, name: &str) -> &[u32] {
        self.by_name.get(name).map_or(&[], Vec::as_slice)
    }

    /// Whether some kernel's own name is this.
    pub(crate) fn is_kernel(&self, name: &str) -> bool {
        self.kernels.contains(name)
    }

    /// The kernel's own name; `None` for a symbol that is spelled otherwise.
    pub(crate) fn own_name(&self, symbol: u32) -> Option<&'a str> {
        self.own.get(symbol as usize).copied().flatten()
    }
}

/// The whole symbol if it is not mangled, and every `<length><identifier>` in it.
///
/// A run of digits may also be a value or a hash, so no part is skipped on the word of another: whatever can be read as
/// a part is one. Digits within a run start none, except behind a part that ended there.
fn parts(symbol: &str) -> Vec<&str> {
    let bytes = symbol.as_bytes();
    if !symbol.contains("_Z") {
        // Relocatable code prefixes an internal name with its file's: `__nv_static_<length>_<file>_<hash>_<name>`.
        let bare = symbol.rfind("__").map(|at| &symbol[at + 2..]);
        return [Some(symbol), bare].into_iter().flatten().collect();
    }
    let starts_run =
        |at: usize| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit());
    let mut starts: Vec<usize> = (0..bytes.len()).filter(|&at| starts_run(at)).collect();
    let mut parts = Vec::new();
    let mut next = 0;
    while let Some(&start) = starts.get(next) {
        next += 1;
        let Some((from, to)) = part_at(bytes, start) else {
            continue;
        };
        if let Some(part) = symbol.get(from..to) {
            parts.push(part);
        }
        let inside_run = bytes.get(to).is_some_and(u8::is_ascii_digit) && !starts_run(to);
        if inside_run && !starts[next..].contains(&to) {
            starts.push(to);
        }
    }
    parts
}

/// The last part of the entity's own name, before template arguments and parameters.
fn own_name(symbol: &str) -> Option<&str> {
    let Some(start) = symbol.find("_Z") else {
        return Some(symbol);
    };
    let bytes = symbol.as_bytes();
    let mut at = start + 2;
    let nested = bytes.get(at) == Some(&b'N');
    at += usize::from(nested);
    let mut last = None;
    while bytes.get(at).is_some_and(u8::is_ascii_digit) {
        let (from, to) = part_at(bytes, at)?;
        last = symbol.get(from..to);
        at = to;
        if !nested {
            break;
        }
    }
    last
}

fn part_at(bytes: &[u8], start: usize) -> Option<(usize, usize)> {
    let digits = bytes[start..]
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    // Longer than any identifier that a symbol of 64 KiB can hold.
    if digits == 0 || digits > 5 || bytes[start] == b'0' {
        return None;
    }
    let length = bytes[start..start + digits]
        .iter()
        .fold(0_usize, |length, digit| {
            length * 10 + usize::from(digit - b'0')
        });
    let from = start + digits;
    let to = from + length;
    let is_name = bytes.get(from).is_some_and(|byte| !byte.is_ascii_digit());
    (to <= bytes.len() && is_name).then_some((from, to))
}

#[cfg(test)]
mod tests {
    use super::{own_name, parts};

    #[test]
    fn every_part_of_a_name_is_found() {
        let cases = [
            ("_Z5scalePfi", "scale", Some("scale")),
            ("plain_kernel", "plain_kernel", Some("plain_kernel")),
            (
                "_ZN6sample9transposeIdEEvPT_PKS1_i",
                "transpose",
                Some("transpose"),
            ),
            (
                "_ZN41_GLOBAL__N__74a21277_12_histogram_cu_main16count_remaindersEPfii",
                "count_remainders",
                Some("count_remainders"),
            ),
            (
                "_ZN6sample41_GLOBAL__N__0730bb18_9_reduce_cu_e6bad88f12partial_sumsEPfPKfi",
                "partial_sums",
                Some("partial_sums"),
            ),
            (
                "__nv_static_34__650dcb1d_12_particles_cu_151af030__Z5startPfS_i",
                "start",
                Some("start"),
            ),
            (
                "__nv_static_34__650dcb1d_12_particles_cu_151af030__begin",
                "begin",
                None,
            ),
            // The digits of a value are no length that hides what follows.
            ("_ZN3BoxILi4EE6kernelEv", "kernel", Some("Box")),
            // A part that ends in a digit is followed by the next one's length.
            ("_ZN4abc15startEv", "start", Some("start")),
            ("_Z3runI7FunctorEvT_", "Functor", Some("run")),
        ];
        for (symbol, name, own) in cases {
            assert!(
                parts(symbol).contains(&name),
                "{symbol}: {:?}",
                parts(symbol)
            );
            if let Some(own) = own {
                assert_eq!(own_name(symbol), Some(own), "{symbol}");
            }
        }
    }

    #[test]
    fn odd_symbols_are_read_without_harm() {
        for symbol in [
            "",
            "_Z",
            "_Z99999999999x",
            "_Z3é",
            "_ZN",
            "_Z0",
            "9",
            "_Z5ab",
        ] {
            let _ = (parts(symbol), own_name(symbol));
        }
    }
}
