//! An entry's image, decompressed where it is packed.

use super::fatbin::{Entry, Packing};
use crate::input::{Budget, Fault, Reason};

/// LZ4 cannot expand a byte to more than 255.
const LZ4_RATIO: u64 = 256;

/// Reused between entries, so that a worker's memory is bounded by its largest image.
#[derive(Default)]
pub(crate) struct Unpacker {
    zstd: Option<zstd::bulk::Decompressor<'static>>,
    image: Vec<u8>,
}

impl Unpacker {
    /// The image of `entry`. Borrowed from the file when it is plain.
    pub(crate) fn image<'a>(
        &'a mut self,
        entry: &Entry<'a>,
        budget: &mut Budget,
    ) -> Result<&'a [u8], Fault> {
        match entry.packing {
            Packing::Plain => Ok(entry.payload.bytes()),
            Packing::Lz4 { size } => self.lz4(entry, size, budget),
            Packing::Zstd { size } => self.zstd(entry, size, budget),
        }
    }

    fn lz4(&mut self, entry: &Entry<'_>, size: u64, budget: &mut Budget) -> Result<&[u8], Fault> {
        if size > entry.payload.len().saturating_mul(LZ4_RATIO) {
            let expected = format!("an LZ4 block of {size} bytes or less than 256 times its input");
            return Err(Fault::new(Reason::BadCompression, entry.offset, expected));
        }
        let size = budget.take(size, entry.offset)?;
        self.image.clear();
        self.image.resize(size, 0);
        let got = lz4_flex::block::decompress_into(entry.payload.bytes(), &mut self.image);
        match got {
            Ok(got) if got == size => Ok(&self.image),
            Ok(got) => Err(wrong_size(entry, "an LZ4 block", size, got)),
            Err(error) => Err(broken(entry, "an LZ4 block", &error)),
        }
    }

    fn zstd(&mut self, entry: &Entry<'_>, size: u64, budget: &mut Budget) -> Result<&[u8], Fault> {
        let size = budget.take(size, entry.offset)?;
        let mut decompressor = match self.zstd.take() {
            Some(decompressor) => decompressor,
            None => zstd::bulk::Decompressor::new()
                .map_err(|error| broken(entry, "a zstd decoder", &error))?,
        };
        self.image.clear();
        self.image.reserve_exact(size);
        let got = decompressor.decompress_to_buffer(entry.payload.bytes(), &mut self.image);
        self.zstd = Some(decompressor);
        match got {
            Ok(got) if got == size => Ok(&self.image),
            Ok(got) => Err(wrong_size(entry, "a zstd frame", size, got)),
            Err(error) => Err(broken(entry, "a zstd frame", &error)),
        }
    }
}

fn wrong_size(entry: &Entry<'_>, what: &str, size: usize, got: usize) -> Fault {
    let expected = format!("{what} that decompresses to {size} bytes, not {got}");
    Fault::new(Reason::BadCompression, entry.offset, expected)
}

fn broken(entry: &Entry<'_>, what: &str, error: &dyn std::fmt::Display) -> Fault {
    Fault::new(
        Reason::BadCompression,
        entry.offset,
        format!("{what} ({error})"),
    )
}
