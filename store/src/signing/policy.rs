//! What a writer of pointers does about signatures.

use super::{Seal, SignatureProblem, SigningKey, TrustedKeys};
use kernrec_schemas::KeyId;
use kernrec_schemas::pointer::Signable;

/// How a publisher signs, and what it takes over from the pointer that stands there: its history, with what is
/// revoked, goes into the next one and would be vouched for with it.
#[derive(Debug, Clone, Default)]
pub struct Signing {
    /// Signs what is written; `None`: nothing is signed.
    pub key: Option<SigningKey>,
    /// Believed beside it, as after a change of keys.
    pub trusted: TrustedKeys,
    /// Take over what stands there unsigned, once: from now on it counts as if it had been signed.
    pub adopt_unsigned: bool,
}

impl Signing {
    /// Refuses to replace a pointer that this writer has no reason to believe, or whose readers it would lose.
    pub fn check(&self, standing: &Seal) -> Result<(), SignatureProblem> {
        let claimed = standing.claimed_key();
        let Some(key) = &self.key else {
            return match claimed {
                Some(found) => Err(SignatureProblem::SigningKeyMissing { found }),
                None => Ok(()),
            };
        };
        if claimed.is_none() && self.adopt_unsigned {
            return Ok(());
        }
        let believed = TrustedKeys::of(key).with(&self.trusted);
        standing.verify(&believed).map(|_| ())
    }

    /// Whether a pointer that names the right record still lacks this writer's signature.
    pub fn is_due(&self, standing: &Seal) -> bool {
        (self.key.as_ref()).is_some_and(|key| standing.verify(&TrustedKeys::of(key)).is_err())
    }

    /// Signs, with a key.
    pub fn sign<T: Signable>(&self, document: &mut T) {
        if let Some(key) = &self.key {
            key.sign(document);
        }
    }

    /// The key that signs.
    pub fn key_id(&self) -> Option<KeyId> {
        self.key.as_ref().map(SigningKey::id)
    }
}
