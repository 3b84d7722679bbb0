//! How much one object may decompress to.

use super::{Fault, Reason};

/// One image: far above any real cubin or code object (cuBLASLt's largest is below 64 MiB).
const MAX_IMAGE: u64 = 1 << 30;
/// One object: this much, and [`TOTAL_RATIO`] times its device sections.
const TOTAL_FLOOR: u64 = 256 << 20;
/// Real device code compresses 3 to 15 times; constant tables somewhat more.
const TOTAL_RATIO: u64 = 64;

/// Bytes that the rest of an object may still decompress to: a bomb ends in an error, not in a hang.
#[derive(Debug)]
pub(crate) struct Budget {
    left: u64,
}

impl Budget {
    /// The budget of an object with `device_bytes` of device sections.
    pub(crate) const fn of(device_bytes: u64) -> Self {
        Self {
            left: device_bytes
                .saturating_mul(TOTAL_RATIO)
                .saturating_add(TOTAL_FLOOR),
        }
    }

    /// A budget for tests.
    #[cfg(test)]
    pub(crate) const fn exactly(left: u64) -> Self {
        Self { left }
    }

    /// Takes the `size` of one image that a header at `offset` announces.
    pub(crate) fn take(&mut self, size: u64, offset: u64) -> Result<usize, Fault> {
        let Some(left) = self.left.checked_sub(size).filter(|_| size <= MAX_IMAGE) else {
            let expected = format!(
                "an image of at most {} bytes, the header says {size}",
                MAX_IMAGE.min(self.left)
            );
            return Err(Fault::new(Reason::TooLarge, offset, expected));
        };
        self.left = left;
        usize::try_from(size).map_err(|_| Fault::new(Reason::TooLarge, offset, "a size in memory"))
    }
}
