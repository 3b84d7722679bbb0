//! Objects into the store, each proven to be there before the pointer may name them.

use super::PublishError;
use super::bundles::Bundles;
use super::record::Record;
use kernrec_store::{Store, objects};

/// Stores bundles, documents and, last, the manifest. What stands there damaged is healed.
pub(super) fn upload(
    store: &dyn Store,
    record: &Record,
    bundles: &Bundles,
) -> Result<(), PublishError> {
    bundles.upload(store)?;
    for document in &record.documents {
        objects::put(store, document)?;
    }
    Ok(())
}
