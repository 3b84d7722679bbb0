//! tree-sitter, with a bound on what one text may cost.

use std::ops::ControlFlow;
use tree_sitter::{Language, ParseOptions, Parser, Tree};

/// How often the parser may report progress for each so many bytes of text, and beyond that, before an item counts as
/// one it cannot read: three times what real code needs. Counted, not timed: the same text has the same answer on every
/// machine.
const BYTES_PER_STEP: usize = 24;
const MIN_STEPS: usize = 512;

/// A parser of one grammar.
pub(crate) struct BoundedParser {
    parser: Parser,
}

impl BoundedParser {
    /// `None` when the library and the grammar do not fit together, which tests rule out.
    pub(crate) fn of(grammar: &Language) -> Option<Self> {
        let mut parser = Parser::new();
        parser.set_language(grammar).ok()?;
        Some(Self { parser })
    }

    /// Parses a text; `None` when that takes more steps than any readable text does.
    pub(crate) fn parse(&mut self, text: &[u8]) -> Option<Tree> {
        let mut steps = text.len() / BYTES_PER_STEP + MIN_STEPS;
        let mut progress = |_: &tree_sitter::ParseState| {
            steps = steps.saturating_sub(1);
            if steps == 0 {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        let options = ParseOptions::new().progress_callback(&mut progress);
        let tree = self.parser.parse_with_options(
            &mut |at, _| text.get(at..).unwrap_or_default(),
            None,
            Some(options),
        );
        if tree.is_none() {
            self.parser.reset();
        }
        tree
    }
}
