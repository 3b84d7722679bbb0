//! The targets. Each takes any bytes and checks what must hold of whatever was read.

use kernrec_schemas::function_recording::{Function, FunctionRecording, SessionNotes};
use kernrec_schemas::function_table::FunctionTable;
use kernrec_schemas::id::stable_form;
use kernrec_schemas::installed::{InstalledRecord, file_name};
use kernrec_schemas::jobs::JobsList;
use kernrec_schemas::manifest::RecordManifest;
use kernrec_schemas::pointer::{HISTORY_LIMIT, Pointer, UpstreamPointer};
use kernrec_schemas::recording::{HeaderKind, ProcessState, Recording};
use kernrec_schemas::sidecar::Sidecar;
use kernrec_schemas::symbol_map::SymbolMap;
use kernrec_schemas::table::KernelTable;
use kernrec_schemas::{Backend, KernelName};
use std::collections::HashSet;

/// Functions are always kept and distinct, and a recording with any sign of trouble is never clean.
pub(crate) fn fuzz_function_recording(bytes: &[u8]) {
    let recording = FunctionRecording::read(bytes);
    let distinct: HashSet<_> = recording.functions.iter().collect();
    assert_eq!(
        distinct.len(),
        recording.functions.len(),
        "functions are distinct"
    );
    for line in bytes.split(|&byte| byte == b'\n') {
        let Ok(line) = std::str::from_utf8(line) else {
            continue;
        };
        let fields: Vec<&str> = line.split('\t').collect();
        if let [file, qualname, number] = fields[..]
            && !file.is_empty()
            && !file.starts_with('#')
            && !qualname.is_empty()
            && let Ok(number) = number.parse::<u32>()
        {
            let kept =
                |f: &&Function<'_>| f.file == file && f.qualname == qualname && f.line == number;
            assert!(
                recording.functions.iter().any(|f| kept(&f)),
                "`{line}` is kept"
            );
        }
    }
    if recording.state == ProcessState::Clean {
        assert!(recording.clean_exit && recording.first_error.is_none());
        assert!(!recording.lost_lines && recording.malformed_lines == 0);
        assert!(
            recording
                .header
                .is_some_and(|header| header.process().is_some())
        );
    }
    for sign in [
        "#error\tx\n",
        "#start\tpid=1\n",
        "torn",
        "one\tfield\n",
        "#end\terrors=0\n",
    ] {
        let mut worse = bytes.to_vec();
        if !worse.is_empty() && !worse.ends_with(b"\n") {
            worse.push(b'\n');
        }
        worse.extend_from_slice(sign.as_bytes());
        // A header alone makes a recording of nothing; every other sign spoils one.
        if !bytes.trim_ascii().is_empty() || sign != "#start\tpid=1\n" {
            assert_ne!(
                FunctionRecording::read(&worse).state,
                ProcessState::Clean,
                "{sign}"
            );
        }
    }
}

/// Every line that is one JSON object ends up in a count.
pub(crate) fn fuzz_session_notes(bytes: &[u8]) {
    let notes = SessionNotes::read(bytes);
    let lines = bytes.split(|&byte| byte == b'\n').count() as u64;
    assert!(notes.sessions.len() as u64 + notes.malformed_lines <= lines);
    let executed = notes.executed();
    assert!(
        notes
            .sessions
            .iter()
            .all(|session| session.executed() <= executed)
    );
    let mut torn = bytes.to_vec();
    torn.extend_from_slice(b"\n{\"event\":\"session\"}");
    assert!(
        SessionNotes::read(&torn).malformed_lines > 0,
        "a torn line is no session"
    );
}

/// Names are always kept and distinct, a healthy state keeps its promises, an unhealthy sign always shows.
pub(crate) fn fuzz_recording(bytes: &[u8]) {
    let recording = Recording::read(bytes);
    let names: HashSet<&str> = recording.names.iter().map(|name| &**name).collect();
    assert_eq!(names.len(), recording.names.len(), "names are distinct");
    for line in bytes.split(|&byte| byte == b'\n') {
        if let Ok(line) = std::str::from_utf8(line)
            && KernelName::is_valid(line)
        {
            assert!(names.contains(line), "`{line}` is kept");
        }
    }
    match recording.state {
        ProcessState::Clean => check_clean(&recording),
        ProcessState::Idle => check_idle(&recording),
        _ => {}
    }
    for sign in [
        "# error=x\n",
        "# dropped=1\n",
        "# dropped=x\n",
        "# kernrec v1 pid=1\n",
        "a\tb\n",
        "x",
    ] {
        let worse = [bytes, b"\n", sign.as_bytes()].concat();
        let worse = Recording::read(&worse);
        assert!(
            !worse.state.is_healthy(),
            "{sign:?} makes any recording unhealthy"
        );
        assert!(
            worse.names.starts_with(&recording.names),
            "{sign:?} costs no name"
        );
    }
}

fn check_clean(recording: &Recording<'_>) {
    let (header, footer) = (
        recording.header.as_ref().unwrap(),
        recording.footer.unwrap(),
    );
    assert_eq!(header.kind, HeaderKind::Valid);
    assert!(header.backend.is_some());
    assert_eq!(footer.unique, recording.names.len() as u64);
    assert!(footer.records >= footer.unique);
    assert_eq!((footer.errors, footer.unresolved), (Some(0), Some(0)));
    assert_eq!((recording.dropped, footer.dropped), (0, 0));
    assert_eq!(recording.first_error, None);
}

fn check_idle(recording: &Recording<'_>) {
    let header = recording.header.as_ref().unwrap();
    assert_eq!(
        (header.kind, header.backend),
        (HeaderKind::Valid, Some(Backend::Rocm))
    );
    assert!(!header.forked && !recording.gpu_active);
    assert!(recording.names.is_empty() && recording.footer.is_none());
    assert_eq!((recording.dropped, &recording.first_error), (0, &None));
}

/// A field is believed or named as faulty, never both.
pub(crate) fn fuzz_sidecar(bytes: &[u8]) {
    let Ok(sidecar) = Sidecar::parse(bytes) else {
        return;
    };
    let faulty = |field: &str| {
        let prefix = format!("{field}: ");
        sidecar
            .faults
            .iter()
            .any(|fault| fault.starts_with(&prefix))
    };
    assert!(!(faulty("step_key") && sidecar.step_key.is_some()));
    assert!(!(faulty("commit") && sidecar.commit.is_some()));
    assert!(!(faulty("exit_status") && sidecar.exit_status.is_some()));
    assert!(!(faulty("backend") && sidecar.backend.is_some()));
    assert!(!(faulty("collection_available") && sidecar.collection_available.is_some()));
}

/// What is read has consistent rows, and its canonical bytes are a fixed point that loses nothing seen.
pub(crate) fn fuzz_table(bytes: &[u8]) {
    let Ok(table) = KernelTable::parse(bytes) else {
        return;
    };
    for row in table.rows.values() {
        assert_eq!(row.is_usable(), row.unusable_reasons().is_empty());
        assert!(row.kernels.is_sorted_by(|a, b| a < b));
        assert_eq!(table.kernels(row).count(), row.kernels.len());
        assert!(table.version == 3 || !row.is_usable());
    }
    for fault in &table.faults {
        let row = table.rows.get(fault.key.as_str());
        assert!(
            row.is_none_or(|row| !row.is_usable()),
            "a row set aside authorises nothing"
        );
    }
    if table.rows.is_empty() {
        return;
    }
    let canonical = table.to_canonical();
    let again = KernelTable::parse(&canonical).unwrap();
    assert_eq!(again.to_canonical(), canonical);
    assert_eq!(again.faults, []);
    for (step, row) in &table.rows {
        let (mut before, after): (Vec<_>, Vec<_>) = (
            table.kernels(row).collect(),
            again.kernels(&again.rows[step]).collect(),
        );
        before.sort_unstable();
        assert_eq!(before, after, "the kernels of `{step}`");
        assert_eq!(row.is_usable(), again.rows[step].is_usable());
    }
}

/// As for a kernel table.
pub(crate) fn fuzz_function_table(bytes: &[u8]) {
    let Ok(table) = FunctionTable::parse(bytes) else {
        return;
    };
    assert!(table.functions.is_sorted_by(|a, b| a < b));
    for row in table.rows.values() {
        assert_eq!(row.is_usable(), row.unusable_reasons().is_empty());
        assert_eq!(table.functions_of(row).count(), row.functions.len());
        assert_eq!(table.libraries_of(row).count(), row.libraries.len());
    }
    for fault in &table.faults {
        let row = table.rows.get(fault.key.as_str());
        assert!(
            row.is_none_or(|row| !row.is_usable()),
            "a row set aside authorises nothing"
        );
    }
    for function in &table.functions {
        let indexes = table.indexes_in(function.file.as_str());
        assert!(table.functions[indexes].contains(function));
    }
    if table.rows.is_empty() {
        return;
    }
    let canonical = table.to_canonical();
    let again = FunctionTable::parse(&canonical).unwrap();
    assert_eq!(again.to_canonical(), canonical);
    assert_eq!(again.faults, []);
    for (step, row) in &table.rows {
        let after = &again.rows[step];
        assert!(table.functions_of(row).eq(again.functions_of(after)));
        assert!(table.libraries_of(row).eq(again.libraries_of(after)));
        assert_eq!(row.is_usable(), after.is_usable());
    }
}

/// The canonical bytes are a fixed point, and whether the map may be used does not change by writing it.
pub(crate) fn fuzz_symbol_map(bytes: &[u8]) {
    let Ok(map) = SymbolMap::parse(bytes) else {
        return;
    };
    let canonical = map.to_canonical();
    let again = SymbolMap::parse(&canonical).unwrap();
    assert_eq!(again.to_canonical(), canonical);
    assert_eq!(again.accept().is_ok(), map.accept().is_ok());
    assert_eq!((again.version, again.backend), (map.version, map.backend));
    assert_eq!(again.distinct_symbols(), map.distinct_symbols());
    assert_eq!(SymbolMap::load(bytes).is_ok(), map.accept().is_ok());
}

/// What is read names both halves, and its canonical bytes are a fixed point.
pub(crate) fn fuzz_manifest(bytes: &[u8]) {
    let Ok(manifest) = RecordManifest::parse(bytes) else {
        return;
    };
    let maps = manifest.symbol_maps().count();
    let kernels = manifest.table().is_some() && maps > 0;
    let functions = manifest.function_table().is_some();
    assert_eq!(kernels, manifest.backend.has_kernels());
    assert!(functions != kernels && (kernels || maps == 0));
    let canonical = manifest.to_canonical();
    assert_eq!(RecordManifest::parse(&canonical).unwrap(), manifest);
    assert_eq!(
        RecordManifest::parse(&canonical).unwrap().to_canonical(),
        canonical
    );
}

/// Only what this program wrote is read, byte for byte, and it names the files a reader needs.
pub(crate) fn fuzz_installed(bytes: &[u8]) {
    let Ok(record) = InstalledRecord::parse(bytes) else {
        return;
    };
    assert_eq!(record.to_bytes(), bytes);
    let kernels = record.table().is_some() && !record.variants().is_empty();
    assert_eq!(kernels, record.backend.has_kernels());
    assert_ne!(kernels, record.function_table().is_some());
    assert!(record.files.keys().all(|role| file_name(role).is_some()));
}

/// What is read is bounded, its current record is good, and it can be written again as it is.
pub(crate) fn fuzz_pointer(bytes: &[u8]) {
    let Ok(pointer) = Pointer::parse(bytes) else {
        return;
    };
    assert!(pointer.generation.0 >= 1 && pointer.history.len() <= HISTORY_LIMIT);
    assert_eq!(
        pointer.revocation(&pointer.current.manifest, pointer.current.build),
        None
    );
    assert_eq!(pointer.good_records().next(), Some(&pointer.current));
    assert_eq!(Pointer::parse(&pointer.to_bytes()).unwrap(), pointer);
    let Some(target) = pointer.good_records().nth(1).map(|record| record.manifest) else {
        return;
    };
    let nonce = pointer.nonce.clone();
    if let Some(back) = pointer.rolled_back(&target, nonce, pointer.current.published_at) {
        assert_eq!(back.current.manifest, target);
        assert_eq!(back.generation.0, pointer.generation.0 + 1);
        assert_eq!(Pointer::parse(&back.to_bytes()).unwrap(), back);
    }
}

/// The bytes written are a fixed point.
pub(crate) fn fuzz_upstream_pointer(bytes: &[u8]) {
    let Ok(pointer) = UpstreamPointer::parse(bytes) else {
        return;
    };
    assert_eq!(
        UpstreamPointer::parse(&pointer.to_bytes()).unwrap(),
        pointer
    );
}

/// Every listed job can be found, and there is one.
pub(crate) fn fuzz_jobs(bytes: &[u8]) {
    let Ok(jobs) = JobsList::parse(bytes) else {
        return;
    };
    assert_ne!(jobs.iter().count(), 0);
    for job in jobs.iter() {
        assert_eq!(jobs.find(&job.id), Some(job));
    }
}

/// The form has the name's length, is its own form, and differs from the name in blanks only.
pub(crate) fn fuzz_stable_form(bytes: &[u8]) {
    let name = String::from_utf8_lossy(bytes);
    let stable = stable_form(&name);
    assert_eq!(stable.len(), name.len());
    assert_eq!(stable_form(&stable), stable);
    assert!(
        name.bytes()
            .zip(stable.bytes())
            .all(|(exact, blank)| exact == blank || blank == b'x')
    );
}
