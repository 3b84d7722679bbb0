//! Finding out how a pointer's move ended.

use crate::StoreError;
use crate::store::{Swap, Version};
use kernrec_schemas::{Generation, Nonce};

/// By what one version of a pointer is told from another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mark {
    pub(crate) nonce: Option<Nonce>,
    pub(crate) generation: Option<Generation>,
}

/// Settles a lost answer by reading back and comparing nonces.
///
/// An error means that the pointer was seen where it was. [`Swap::Unknown`] is left when the read-back fails too,
/// or shows a later move that may stand on ours.
pub(crate) fn settle(
    swapped: Result<Swap, StoreError>,
    expected: Option<&Version>,
    next: &Mark,
    read_back: impl FnOnce() -> Result<Option<(Mark, Version)>, StoreError>,
) -> Result<Swap, StoreError> {
    if let Ok(Swap::Moved(_)) = swapped {
        return swapped;
    }
    let found = match read_back() {
        Ok(found) => found,
        Err(unread) => {
            return Ok(Swap::Unknown(match swapped {
                Ok(Swap::Unknown(error)) | Err(error) => error,
                Ok(Swap::Moved(_) | Swap::Conflict) => unread,
            }));
        }
    };
    let untouched = found.as_ref().map(|(_, version)| version) == expected;
    let (ours, in_our_place) = match &found {
        Some((mark, _)) => (mark.nonce == next.nonce, mark.generation == next.generation),
        None => (false, false),
    };
    match (swapped, found) {
        // Visible, and not known to be durable.
        (Err(error), Some(_)) if ours => Ok(Swap::Unknown(error)),
        // A retry inside the transport can turn our own success into a conflict.
        (_, Some((_, version))) if ours => Ok(Swap::Moved(version)),
        // What was not answered in time may still happen.
        (Err(error @ StoreError::TimedOut { .. }), _) => Ok(Swap::Unknown(error)),
        (Err(error), _) if untouched => Err(error),
        (Ok(Swap::Unknown(_)), _) if untouched || in_our_place => Ok(Swap::Conflict),
        (Ok(Swap::Unknown(error)) | Err(error), _) => Ok(Swap::Unknown(error)),
        (Ok(Swap::Conflict | Swap::Moved(_)), _) => Ok(Swap::Conflict),
    }
}
