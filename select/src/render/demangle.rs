//! Kernel names as people wrote them.

use cpp_demangle::{BorrowedSymbol, DemangleNodeType, DemangleOptions, DemangleWrite};
use kernrec_schemas::shown::printable;
use std::fmt;

/// The longest mangled name that is taken apart, and the longest text that is made of one: substitutions can repeat
/// what they stand for many times over.
const MAX_MANGLED: usize = 4096;
const MAX_TEXT: usize = 4096;

/// A kernel's name without parameters and return type; what is no mangled name, or stands for too long a text, stays
/// as it is. Never holds a control character.
pub fn demangled(name: &str) -> String {
    let text = text(name).unwrap_or_else(|| name.to_owned());
    printable(&text).into_owned()
}

fn text(name: &str) -> Option<String> {
    if name.len() > MAX_MANGLED || !name.starts_with("_Z") {
        return None;
    }
    // A clone suffix (`.constprop.0`) is left out.
    let (symbol, _) = BorrowedSymbol::with_tail(name.as_bytes()).ok()?;
    let options = DemangleOptions::new().no_params().no_return_type();
    let mut out = Bounded(String::new());
    symbol.structured_demangle(&mut out, &options).ok()?;
    Some(out.0).filter(|text| !text.is_empty())
}

struct Bounded(String);

impl DemangleWrite for Bounded {
    fn write_string(&mut self, text: &str) -> fmt::Result {
        if self.0.len() + text.len() > MAX_TEXT {
            return Err(fmt::Error);
        }
        self.0.push_str(text);
        Ok(())
    }

    fn push_demangle_node(&mut self, _: DemangleNodeType) {}

    fn pop_demangle_node(&mut self) {}
}
