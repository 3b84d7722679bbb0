//! The kernels of one section of bundles.

use super::bundle::{self, Entry};
use super::{code_object, compressed};
use crate::input::{Budget, Fault, Reason, Span};
use std::collections::BTreeSet;

/// The triple of every AMD GPU entry, with the empty environment field.
const TRIPLE: &str = "amdgcn-amd-amdhsa-";

/// Where what a section's bundles hold is added to.
#[derive(Debug)]
pub(crate) struct Found<'a> {
    pub(crate) kernels: &'a mut BTreeSet<String>,
    /// Entry ids of device code, such as `hipv4-amdgcn-amd-amdhsa--gfx942`.
    pub(crate) targets: &'a mut BTreeSet<String>,
}

/// Reads every bundle of `section` into `found`. Bundles are page-aligned, zeros between them.
pub(crate) fn read_section(
    section: Span<'_>,
    budget: &mut Budget,
    mut found: Found<'_>,
) -> Result<(), Fault> {
    let mut at = 0;
    let mut bundles = 0_u64;
    while let Some(zeros) = zeros_at(section, at) {
        let rest = section.slice(at + zeros, section.len() - at - zeros, "a bundle")?;
        at += zeros + read_bundle(rest, budget, &mut found)?;
        bundles += 1;
    }
    if bundles == 0 || found.targets.is_empty() {
        let expected = "an offload bundle with device code";
        return Err(Fault::new(
            Reason::NoReadableEntry,
            section.offset(0),
            expected,
        ));
    }
    Ok(())
}

/// How much padding follows `at`; `None` when nothing but padding does.
fn zeros_at(section: Span<'_>, at: u64) -> Option<u64> {
    let rest = section.bytes().get(usize::try_from(at).ok()?..)?;
    rest.iter()
        .position(|&byte| byte != 0)
        .map(|zeros| zeros as u64)
}

fn read_bundle(span: Span<'_>, budget: &mut Budget, found: &mut Found<'_>) -> Result<u64, Fault> {
    if span.bytes().starts_with(compressed::MAGIC) {
        let (content, used) = compressed::unpack(span, budget)?;
        let inner = Span::new(&content, 0);
        let read = if content.starts_with(bundle::MAGIC) {
            read_plain(inner, found)
        } else {
            Err(Fault::malformed(0, "an offload bundle in a compressed one"))
        };
        read.map_err(|fault| fault.inside(span.offset(0)))?;
        return Ok(used);
    }
    if span.bytes().starts_with(bundle::MAGIC) {
        return read_plain(span, found);
    }
    Err(Fault::malformed(
        span.offset(0),
        "an offload bundle's magic",
    ))
}

fn read_plain(span: Span<'_>, found: &mut Found<'_>) -> Result<u64, Fault> {
    let (entries, used) = bundle::entries(span)?;
    for entry in entries {
        read_entry(&entry, found)?;
    }
    Ok(used)
}

fn read_entry(entry: &Entry<'_>, found: &mut Found<'_>) -> Result<(), Fault> {
    let (kind, rest) = entry.id.split_once('-').unwrap_or((entry.id, ""));
    match kind {
        // The host's own entry; empty in an embedded bundle.
        "host" => return Ok(()),
        "hip" | "hipv4" => {}
        other => {
            let expected = format!("a bundle entry of kind host, hip or hipv4, found `{other}`");
            return Err(Fault::new(
                Reason::Unsupported,
                entry.code.offset(0),
                expected,
            ));
        }
    }
    let target = rest
        .strip_prefix(TRIPLE)
        .and_then(|rest| rest.strip_prefix('-'));
    let Some(target) = target.filter(|target| !target.is_empty()) else {
        let expected = format!("a target id behind `{TRIPLE}`, found `{}`", entry.id);
        return Err(Fault::new(
            Reason::Unsupported,
            entry.code.offset(0),
            expected,
        ));
    };
    code_object::read(entry.code, target, found.kernels)?;
    found.targets.insert(entry.id.to_owned());
    Ok(())
}
