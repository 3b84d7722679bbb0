//! The machine's processes, as its process table shows them.

use std::path::Path;

/// A process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Listed {
    pub(crate) pid: libc::pid_t,
    pub(crate) parent: libc::pid_t,
    /// In ticks since the machine started. With the id it names a process: ids are used again.
    pub(crate) started: u64,
}

/// Every process below a process table's folder.
pub(crate) fn all(proc: &Path) -> Vec<Listed> {
    let Ok(entries) = fs_err::read_dir(proc) else {
        return Vec::new();
    };
    entries
        .filter_map(Result::ok)
        .filter_map(|entry| listed(&entry.path()))
        .collect()
}

/// The process of a folder of the table. Fields 4 and 22 of `stat`, counted from the end of the name, which may hold
/// anything.
pub(crate) fn listed(process: &Path) -> Option<Listed> {
    let pid = process.file_name()?.to_str()?.parse().ok()?;
    let stat = fs_err::read(process.join("stat")).ok()?;
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    Some(Listed {
        pid,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}
