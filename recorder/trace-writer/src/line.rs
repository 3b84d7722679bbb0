//! A line that needs no memory: the workload may have left none, and asking for some would end the process.

use std::fmt;

/// Above the longest line that is formatted: a footer of five numbers of twenty digits.
const MAX_BYTES: usize = 192;

/// Text of a bounded length. What does not fit is cut off, and formatting then fails.
pub(crate) struct Line {
    bytes: [u8; MAX_BYTES],
    len: usize,
}

impl Default for Line {
    fn default() -> Self {
        Self {
            bytes: [0; MAX_BYTES],
            len: 0,
        }
    }
}

impl Line {
    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let end = self.len + text.len();
        let room = self.bytes.get_mut(self.len..end).ok_or(fmt::Error)?;
        room.copy_from_slice(text.as_bytes());
        self.len = end;
        Ok(())
    }
}
