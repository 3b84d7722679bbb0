//! Where a frame's content is decoded to.

/// Content is decoded in pieces of at most this.
const PIECE: usize = 128 * 1024;
/// So much is set aside at once for content that is kept. Memory is only taken as bytes arrive, but a frame may
/// declare far more than it holds.
const SET_ASIDE: u64 = 64 << 20;

/// Where a frame's content is decoded to, piece by piece.
pub(super) trait Output {
    /// The frame declares so many bytes, which is no more than it may hold and need not be true.
    fn expect(&mut self, size: u64);

    /// Room for the next piece, never empty.
    fn room(&mut self) -> &mut [u8];

    /// The first `length` bytes of the room were filled: the piece.
    fn filled(&mut self, length: usize) -> &[u8];
}

/// Content that is kept: decoded to where it stays.
#[derive(Default)]
pub(super) struct Kept {
    whole: Vec<u8>,
    length: usize,
    /// For what is beyond the size that was set aside, the mere end of the frame included.
    beyond: Passing,
}

impl Kept {
    pub(super) fn content(mut self) -> Vec<u8> {
        self.whole.truncate(self.length);
        self.whole
    }
}

impl Output for Kept {
    fn expect(&mut self, size: u64) {
        self.whole = vec![0; usize::try_from(size.min(SET_ASIDE)).unwrap_or(0)];
    }

    fn room(&mut self) -> &mut [u8] {
        if self.length == self.whole.len() {
            return self.beyond.room();
        }
        let end = self.whole.len().min(self.length + PIECE);
        &mut self.whole[self.length..end]
    }

    fn filled(&mut self, length: usize) -> &[u8] {
        let start = self.length;
        if start == self.whole.len() {
            self.whole.extend_from_slice(self.beyond.filled(length));
        }
        self.length += length;
        &self.whole[start..self.length]
    }
}

/// Content that only passes by.
#[derive(Default)]
pub(super) struct Passing(Vec<u8>);

impl Output for Passing {
    fn expect(&mut self, _: u64) {}

    fn room(&mut self) -> &mut [u8] {
        self.0.resize(PIECE, 0);
        &mut self.0
    }

    fn filled(&mut self, length: usize) -> &[u8] {
        &self.0[..length]
    }
}
