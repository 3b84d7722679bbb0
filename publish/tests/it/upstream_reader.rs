//! The existing readers of the kernel record by their rules: a fetcher that follows a pointer, and the loaders of the
//! selector. With nothing but gzip and JSON, so that no code of ours helps.

use flate2::read::GzDecoder;
use serde_json::Value;
use std::io::Read;
use std::path::Path;

/// A table and a map, as they are in the files.
pub(crate) type Pair = (Value, Value);

/// A reader, by the versions that it knows.
pub(crate) struct Reader {
    pub(crate) tables: &'static [u64],
    pub(crate) maps: &'static [u64],
}

/// The one that knows both backends.
pub(crate) const NEWEST: Reader = Reader {
    tables: &[2, 3],
    maps: &[1, 2],
};

impl Reader {
    /// Follows the pointer in a published folder. The pointer's commit names the folder, and need not be that of the files.
    pub(crate) fn fetch(&self, folder: &Path, suffix: &str) -> Result<Pair, String> {
        let bytes = read(&folder.join(format!("latest{suffix}.json")))?;
        let pointer: Value = serde_json::from_slice(&bytes).map_err(|e| e.to_string())?;
        let commit = pointer["commit"]
            .as_str()
            .ok_or("the pointer has no commit")?;
        self.load(&folder.join(commit), suffix)
    }

    /// Loads a pair: both halves, of one backend and one commit.
    pub(crate) fn load(&self, folder: &Path, suffix: &str) -> Result<Pair, String> {
        let table = document(&folder.join(format!("kernel_table{suffix}.json.gz")))?;
        let map = document(&folder.join(format!("kernel_symbol_map{suffix}.json.gz")))?;
        self.accepts_table(&table)
            .map_err(|what| format!("table: {what}"))?;
        self.accepts_map(&map)
            .map_err(|what| format!("map: {what}"))?;
        if table["source"]["commit"] != map["commit"] {
            return Err("table and map are of two commits".to_owned());
        }
        Ok((table, map))
    }

    fn accepts_table(&self, table: &Value) -> Result<(), String> {
        let version = version(table, self.tables)?;
        let names = table["names"].as_array().ok_or("names")?;
        if !names.iter().all(Value::is_string) {
            return Err("a name is no text".to_owned());
        }
        let rows = table["rows"].as_object().ok_or("rows")?;
        if rows.is_empty() {
            return Err("no rows".to_owned());
        }
        for (key, row) in rows {
            accepts_row(row, version, names.len()).map_err(|what| format!("{key}: {what}"))?;
        }
        Ok(())
    }

    fn accepts_map(&self, map: &Value) -> Result<(), String> {
        let version = version(map, self.maps)?;
        let is_known = matches!(map["backend"].as_str(), Some("cuda" | "rocm"));
        if version == 2 && !is_known {
            return Err("backend".to_owned());
        }
        if map.get("reason").is_some() {
            return Err("it gives a reason why it is none".to_owned());
        }
        let objects = map["objects"].as_array().ok_or("objects")?;
        if objects.is_empty() || !objects.iter().all(|object| object["source"].is_string()) {
            return Err("objects".to_owned());
        }
        Ok(())
    }
}

fn accepts_row(row: &Value, version: u64, names: usize) -> Result<(), String> {
    let flags: &[&str] = if version == 2 {
        &["passed", "complete"]
    } else {
        &["passed", "complete", "trace_complete"]
    };
    if let Some(flag) = flags.iter().find(|flag| !row[**flag].is_boolean()) {
        return Err((*flag).to_owned());
    }
    // A boolean, a negative or a broken number is no count.
    let counts = ["dropped", "jobs", "processes"];
    if let Some(count) = counts.iter().find(|count| !row[**count].is_u64()) {
        return Err((*count).to_owned());
    }
    let backend = row["backend"].as_str();
    if version > 2 && !matches!(backend, Some("cuda" | "rocm" | "unknown")) {
        return Err("backend".to_owned());
    }
    let kernels = row["kernels"].as_array().ok_or("kernels")?;
    let is_name = |index: &Value| index.as_u64().is_some_and(|index| index < names as u64);
    if !kernels.iter().all(is_name) {
        return Err("a kernel is no name's index".to_owned());
    }
    Ok(())
}

fn version(document: &Value, known: &[u64]) -> Result<u64, String> {
    let version = &document["version"];
    version
        .as_u64()
        .filter(|version| known.contains(version))
        .ok_or_else(|| format!("version {version} is not known"))
}

fn document(path: &Path) -> Result<Value, String> {
    let mut content = Vec::new();
    GzDecoder::new(&read(path)?[..])
        .read_to_end(&mut content)
        .map_err(|e| format!("{}: {e}", path.display()))?;
    serde_json::from_slice(&content).map_err(|e| format!("{}: {e}", path.display()))
}

fn read(path: &Path) -> Result<Vec<u8>, String> {
    fs_err::read(path).map_err(|e| e.to_string())
}
