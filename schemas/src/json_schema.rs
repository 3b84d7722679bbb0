//! JSON Schemas of the documents, generated from the types that read and write them.
//!
//! They describe documents for other programs and for people. The loaders check more than a schema can say,
//! and are the rule.

use crate::bundle::BundleMeta;
use crate::installed::InstalledRecord;
use crate::jobs::ListedJob;
use crate::manifest::RecordManifest;
use crate::pointer::{Pointer, UpstreamPointer};
use crate::sidecar::SidecarDocument;
use crate::{function_table, json, symbol_map, table};
use schemars::{JsonSchema, Schema, SchemaGenerator};

/// One document's schema.
#[derive(Debug, Clone)]
pub struct DocumentSchema {
    /// The document's name: `<name>.schema.json` is its file in `schemas/json/`.
    pub name: &'static str,
    /// The schema.
    pub schema: Schema,
}

impl DocumentSchema {
    /// Every document's schema, by name.
    pub fn all() -> Vec<Self> {
        vec![
            Self::of::<BundleMeta>("bundle"),
            Self::of::<function_table::Document>("function-table"),
            Self::of::<InstalledRecord>("installed-record"),
            Self::of::<Vec<ListedJob>>("jobs-list"),
            Self::of::<table::Document>("kernel-table"),
            Self::of::<Pointer>("pointer"),
            Self::of::<RecordManifest>("record-manifest"),
            Self::of::<SidecarDocument>("sidecar"),
            Self::of::<symbol_map::Document>("symbol-map"),
            Self::of::<UpstreamPointer>("upstream-pointer"),
        ]
    }

    /// The bytes of its file.
    pub fn to_bytes(&self) -> Vec<u8> {
        json::pretty(&self.schema)
    }

    fn of<T: JsonSchema>(name: &'static str) -> Self {
        let schema = SchemaGenerator::default().into_root_schema_for::<T>();
        Self { name, schema }
    }
}
