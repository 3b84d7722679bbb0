//! The archive inside the frame, as a stream: decompressed, counted and hashed in one pass.

use super::frame;
use super::limits::WINDOW_LOG_MAX;
use super::{Place, Refusal};
use kernrec_schemas::Digest;
use kernrec_schemas::id::Hasher;
use std::io::{self, Read};
use zstd::zstd_safe::{self, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective};

/// What zstd recommends for both sides: one block.
const CHUNK: usize = 128 * 1024;

/// What ends the reading of a bundle, before the bundle's name and the entry's are known.
#[derive(Debug)]
pub(super) enum Fault {
    Source(io::Error),
    Refused(Place, Refusal),
}

/// The memory of a reader, kept between bundles: a fleet's thousand small bundles would otherwise spend more
/// on getting it than on reading.
pub(super) struct Scratch {
    context: DCtx<'static>,
    input: Box<[u8]>,
    output: Box<[u8]>,
}

impl Scratch {
    pub(super) fn new() -> Self {
        Self {
            context: DCtx::create(),
            input: vec![0; CHUNK].into_boxed_slice(),
            output: vec![0; CHUNK].into_boxed_slice(),
        }
    }
}

/// A frame being read.
pub(super) struct Inflate<'s, R> {
    source: R,
    scratch: &'s mut Scratch,
    /// Where in `input` the bytes not yet decompressed start and end.
    pending: (usize, usize),
    /// Where in `output` the bytes not yet delivered start and end.
    ready: (usize, usize),
    /// Compressed bytes read from the source.
    taken: u64,
    /// Archive bytes decompressed.
    produced: u64,
    declared: u64,
    /// The frame has ended and its checksum matched.
    ended: bool,
    hasher: Hasher,
}

impl<'s, R: Read> Inflate<'s, R> {
    /// Reads and checks the frame's header.
    pub(super) fn open(source: R, scratch: &'s mut Scratch) -> Result<Self, Fault> {
        let mut inflate = Self {
            source,
            scratch,
            pending: (0, 0),
            ready: (0, 0),
            taken: 0,
            produced: 0,
            declared: 0,
            ended: false,
            hasher: Hasher::new(),
        };
        while inflate.pending.1 < frame::MAX_HEADER && inflate.read_source()? {}
        let head = &inflate.scratch.input[..inflate.pending.1.min(frame::MAX_HEADER)];
        inflate.declared = frame::content_size(head)
            .map_err(|refusal| Fault::Refused(Place::Compressed(0), refusal))?;
        let context = &mut inflate.scratch.context;
        context
            .reset(ResetDirective::SessionAndParameters)
            .and_then(|_| context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)))
            .map_err(|code| inflate.damaged(code))?;
        Ok(inflate)
    }

    /// The archive's size as the frame declares it.
    pub(super) fn declared(&self) -> u64 {
        self.declared
    }

    /// How many bytes of the archive were delivered.
    pub(super) fn position(&self) -> u64 {
        self.produced - (self.ready.1 - self.ready.0) as u64
    }

    /// Fills `out` with the next bytes of the archive.
    pub(super) fn read_exact(&mut self, mut out: &mut [u8]) -> Result<(), Fault> {
        while !out.is_empty() {
            let next = self.next(out.len())?;
            let (head, rest) = out.split_at_mut(next.len());
            head.copy_from_slice(next);
            out = rest;
        }
        Ok(())
    }

    /// Appends the next `size` bytes of the archive; memory is taken as they arrive.
    pub(super) fn append(&mut self, size: u64, out: &mut Vec<u8>) -> Result<(), Fault> {
        let mut left = size;
        while left > 0 {
            let next = self.next(usize::try_from(left).unwrap_or(usize::MAX))?;
            out.extend_from_slice(next);
            left -= next.len() as u64;
        }
        Ok(())
    }

    /// Makes sure that frame and source end here; the digest of the archive.
    pub(super) fn finish(mut self) -> Result<Digest, Fault> {
        while !self.ended && self.ready.0 == self.ready.1 {
            self.decompress()?;
        }
        if self.ready.0 != self.ready.1 {
            return Err(Fault::Refused(
                Place::Archive(self.position()),
                Refusal::TrailingData,
            ));
        }
        if self.pending.0 == self.pending.1 {
            self.pending = (0, 0);
            self.read_source()?;
        }
        if self.pending.0 != self.pending.1 {
            return Err(Fault::Refused(self.compressed(), Refusal::TrailingData));
        }
        Ok(self.hasher.digest())
    }

    /// At least one and at most `max` of the next bytes.
    fn next(&mut self, max: usize) -> Result<&[u8], Fault> {
        while self.ready.0 == self.ready.1 {
            if self.ended {
                return Err(Fault::Refused(
                    Place::Archive(self.produced),
                    Refusal::Truncated,
                ));
            }
            self.decompress()?;
        }
        let (start, end) = self.ready;
        let end = end.min(start.saturating_add(max));
        self.ready.0 = end;
        Ok(&self.scratch.output[start..end])
    }

    /// One step of decompression into the empty `output`; it may need several to yield a byte.
    fn decompress(&mut self) -> Result<(), Fault> {
        let Scratch {
            context,
            input,
            output,
        } = &mut *self.scratch;
        let mut source = InBuffer::around(&input[self.pending.0..self.pending.1]);
        let mut sink = OutBuffer::around(&mut output[..]);
        let step = context.decompress_stream(&mut sink, &mut source);
        let (consumed, made) = (source.pos(), sink.pos());
        self.pending.0 += consumed;
        self.ready = (0, made);
        self.produced += made as u64;
        match step {
            Err(code) => return Err(self.damaged(code)),
            Ok(0) => self.ended = true,
            Ok(_) if consumed == 0 && made == 0 => {
                self.pending = (0, 0);
                if !self.read_source()? {
                    return Err(Fault::Refused(self.compressed(), Refusal::Truncated));
                }
            }
            Ok(_) => {}
        }
        // zstd compares the two itself, but only at the frame's end.
        if self.produced > self.declared {
            let refusal = Refusal::Damaged("more content than the frame declares");
            return Err(Fault::Refused(Place::Archive(self.declared), refusal));
        }
        self.hasher.update(&self.scratch.output[..made]);
        Ok(())
    }

    /// Reads more of the source behind what is pending; false at its end.
    fn read_source(&mut self) -> Result<bool, Fault> {
        loop {
            match self.source.read(&mut self.scratch.input[self.pending.1..]) {
                Ok(n) => {
                    self.pending.1 += n;
                    self.taken += n as u64;
                    return Ok(n > 0);
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Fault::Source(e)),
            }
        }
    }

    fn compressed(&self) -> Place {
        Place::Compressed(self.taken - (self.pending.1 - self.pending.0) as u64)
    }

    fn damaged(&self, code: usize) -> Fault {
        let refusal = Refusal::Damaged(zstd_safe::get_error_name(code));
        Fault::Refused(self.compressed(), refusal)
    }
}
