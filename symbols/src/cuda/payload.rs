//! An entry's image, decompressed where it is packed.

use super::fatbin::{Entry, Packing};
use crate::input::{Budget, Fault, Reason, Span};
use object::read::ReadRef;

/// LZ4 cannot expand a byte to more than 255.
const LZ4_RATIO: u64 = 256;

/// Reused between entries, so that a worker's memory is bounded by its largest image.
#[derive(Default)]
pub(crate) struct Unpacker {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    image: Vec<u8>,
}

impl Unpacker {
    /// The image of an entry that is packed; `None` for a plain one, which need not be read whole.
    pub(crate) fn image<'data, R: ReadRef<'data>>(
        &mut self,
        entry: &Entry<R>,
        budget: &mut Budget,
    ) -> Result<Option<&[u8]>, Fault> {
        let payload = || entry.payload.all("an entry's compressed payload");
        match entry.packing {
            Packing::Plain => Ok(None),
            Packing::Lz4 { size } => self.lz4(payload()?, entry.offset, size, budget).map(Some),
            Packing::Zstd { size } => self.zstd(payload()?, entry.offset, size, budget).map(Some),
        }
    }

    fn lz4(
        &mut self,
        payload: Span<'_>,
        offset: u64,
        size: u64,
        budget: &mut Budget,
    ) -> Result<&[u8], Fault> {
        if size > payload.len().saturating_mul(LZ4_RATIO) {
            let expected = format!("an LZ4 block of {size} bytes or less than 256 times its input");
            return Err(Fault::new(Reason::BadCompression, offset, expected));
        }
        let size = budget.take(size, offset)?;
        self.image.clear();
        self.image.resize(size, 0);
        let got = lz4_flex::block::decompress_into(payload.bytes(), &mut self.image);
        match got {
            Ok(got) if got == size => Ok(&self.image),
            Ok(got) => Err(wrong_size(offset, "an LZ4 block", size, got)),
            Err(error) => Err(broken(offset, "an LZ4 block", &error)),
        }
    }

    fn zstd(
        &mut self,
        payload: Span<'_>,
        offset: u64,
        size: u64,
        budget: &mut Budget,
    ) -> Result<&[u8], Fault> {
        let size = budget.take(size, offset)?;
        let mut decompressor = match self.zstd.take() {
            Some(decompressor) => decompressor,
            None => zstd::bulk::Decompressor::new()
                .map_err(|error| broken(offset, "a zstd decoder", &error))?,
        };
        self.image.clear();
        self.image.reserve_exact(size);
        let got = decompressor.decompress_to_buffer(payload.bytes(), &mut self.image);
        self.zstd = Some(decompressor);
        match got {
            Ok(got) if got == size => Ok(&self.image),
            Ok(got) => Err(wrong_size(offset, "a zstd frame", size, got)),
            Err(error) => Err(broken(offset, "a zstd frame", &error)),
        }
    }
}

fn wrong_size(offset: u64, what: &str, size: usize, got: usize) -> Fault {
    let expected = format!("{what} that decompresses to {size} bytes, not {got}");
    Fault::new(Reason::BadCompression, offset, expected)
}

fn broken(offset: u64, what: &str, error: &dyn std::fmt::Display) -> Fault {
    Fault::new(Reason::BadCompression, offset, format!("{what} ({error})"))
}
