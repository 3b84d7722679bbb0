//! What a recording says, read back by the product's own reader.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use kernrec_schemas::recording::{ProcessState, Recording, is_recording_name};
use kernrec_trace_writer::{Backend, Header, MAX_NAME_BYTES, NameSet, Observed, Trace};
use proptest::prelude::*;

const CUDA: Header<'_> = Header {
    backend: Backend::Cuda,
    forked: false,
    fields: &[("forwarders", "yes")],
};

fn read_back(path: &Path) -> Vec<u8> {
    fs_err::read(path).expect("a recording")
}

#[test]
fn a_finished_trace_is_clean_and_holds_the_names_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    for name in ["_Z1bv", "_Z1av", "_Z1bv"] {
        trace.observe(name.as_bytes());
    }
    trace.observe_known();
    trace.finish();

    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.state, ProcessState::Clean);
    assert_eq!(recording.names, ["_Z1bv", "_Z1av"]);
    assert_eq!(recording.footer.unwrap().records, 4);
    let header = recording.header.unwrap();
    assert_eq!(header.pid, Some(u64::from(std::process::id())));
    assert!(header.exe.is_some());
}

#[test]
fn names_are_in_the_file_before_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    trace.observe(b"_Z1av");
    trace.flush();
    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.names, ["_Z1av"]);
    assert_eq!(recording.state, ProcessState::NoFooter);
}

#[test]
fn file_and_folders_are_open_to_everyone() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b");
    let trace = Trace::create(&deep, &CUDA).unwrap();
    let mode = |path: &Path| fs_err::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(trace.path()), 0o666);
    assert_eq!(mode(&deep), 0o777);
    assert_eq!(mode(&folder.path().join("a")), 0o777);
    let name = trace.path().file_name().unwrap().to_str().unwrap();
    assert!(is_recording_name(name), "{name}");
    assert!(name.starts_with(&format!("kern.{}.", std::process::id())));
}

#[test]
fn two_traces_of_one_process_never_share_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let first = Trace::create(folder.path(), &CUDA).unwrap();
    let second = Trace::create(folder.path(), &CUDA).unwrap();
    assert_ne!(first.path(), second.path());
}

#[test]
fn drops_and_errors_are_accounted() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    trace.dropped(0);
    trace.dropped(3);
    trace.dropped(4);
    trace.error("read-buffer");
    trace.error("read-buffer");
    trace.observe_unresolved();
    trace.finish();
    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.state, ProcessState::Error);
    assert_eq!(recording.dropped, 7);
    let footer = recording.footer.unwrap();
    assert_eq!((footer.errors, footer.unresolved), (Some(2), Some(1)));
    let text = String::from_utf8(bytes).unwrap();
    assert_eq!(text.matches("# error=read-buffer").count(), 1);
}

#[test]
fn a_name_that_would_not_read_back_is_an_error_and_not_a_name() {
    let long = vec![b'x'; MAX_NAME_BYTES + 1];
    for name in [&b"a\nb"[..], b"a\rb", b"#a", &long] {
        let folder = tempfile::tempdir().unwrap();
        let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
        assert_eq!(trace.observe(name), Observed::Refused);
        trace.finish();
        let bytes = read_back(trace.path());
        let recording = Recording::read(&bytes);
        assert_eq!(recording.names.len(), 0);
        assert_eq!(
            recording.first_error.as_deref(),
            Some("error=invalid_kernel_name")
        );
    }
}

#[test]
fn the_longest_name_is_kept_whole() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    let long = vec![b'x'; MAX_NAME_BYTES];
    assert_eq!(trace.observe(&long), Observed::New);
    trace.finish();
    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.state, ProcessState::Clean);
    assert_eq!(recording.names[0].len(), MAX_NAME_BYTES);
}

#[test]
fn what_comes_after_the_footer_spoils_it() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    trace.finish();
    trace.observe(b"_Z4latev");
    trace.flush();
    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.state, ProcessState::Error);
    assert_eq!(recording.names, ["_Z4latev"]);
}

#[test]
fn launches_counted_in_bulk_are_in_the_footer() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    trace.observe(b"_Z1av");
    trace.count(9, 2);
    trace.finish();
    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.state, ProcessState::Error);
    let footer = recording.footer.unwrap();
    assert_eq!((footer.records, footer.unresolved), (12, Some(2)));
}

#[test]
fn interned_names_keep_their_places() {
    let mut names = NameSet::default();
    let all: Vec<String> = (0..3_000).map(|i| format!("_Z{i}v")).collect();
    let places: Vec<_> = all
        .iter()
        .map(|name| names.intern(name.as_bytes()).unwrap())
        .collect();
    for (name, place) in all.iter().zip(&places) {
        assert_eq!(names.get(*place), name.as_bytes());
        assert_eq!(names.intern(name.as_bytes()), Ok(*place));
    }
    let long = vec![b'x'; MAX_NAME_BYTES + 1];
    for name in [&b""[..], b"a\nb", b"#a", &long] {
        assert_eq!(names.intern(name), Err("invalid_kernel_name"));
    }
}

#[test]
fn an_idle_rocm_recording_reads_as_idle_until_the_gpu_is_used() {
    let folder = tempfile::tempdir().unwrap();
    let header = Header {
        backend: Backend::Rocm,
        forked: false,
        fields: &[],
    };
    let mut trace = Trace::create(folder.path(), &header).unwrap();
    trace.comment("sdk_version=10302 build_sdk_version=10302");
    trace.flush();
    let state = |trace: &Trace| Recording::read(&read_back(trace.path())).state;
    assert_eq!(state(&trace), ProcessState::Idle);
    assert!(trace.gpu_active());
    assert_eq!(state(&trace), ProcessState::NoFooter);
}

#[test]
fn a_recording_that_lost_its_file_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let header = Header {
        backend: Backend::Rocm,
        forked: false,
        fields: &[],
    };
    let mut trace = Trace::create(folder.path(), &header).unwrap();
    fs_err::remove_file(trace.path()).unwrap();
    assert!(!trace.gpu_active());
    assert_eq!(trace.totals().errors, 1);
}

proptest! {
    #[test]
    fn any_names_leave_a_recording_whose_counts_hold(names in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..40), 0..60)) {
        let folder = tempfile::tempdir().unwrap();
        let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
        let mut refused = 0;
        for name in &names {
            if trace.observe(name) == Observed::Refused {
                refused += 1;
            }
        }
        trace.finish();
        let bytes = read_back(trace.path());
        let recording = Recording::read(&bytes);
        let odd = names.iter().any(|name| !is_well_formed(name));
        let read = recording.names.len() as u64;
        // Odd names can read alike; the others are all there, each once.
        prop_assert!(read == trace.totals().unique || (odd && read < trace.totals().unique));
        prop_assert_eq!(recording.footer.unwrap().records, names.len() as u64);
        // A name that no compiler makes is written, since a launch was seen, and spoils the file for readers.
        let clean = refused == 0 && trace.totals().unresolved == 0 && !odd;
        prop_assert_eq!(recording.state == ProcessState::Clean, clean);
    }
}

/// What readers take for a name that arrived undamaged.
fn is_well_formed(name: &[u8]) -> bool {
    let spaced = name.first() == Some(&b' ') || name.last() == Some(&b' ');
    std::str::from_utf8(name).is_ok() && !spaced && !name.iter().any(u8::is_ascii_control)
}

#[test]
fn a_name_with_a_control_character_is_kept_and_spoils_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    assert_eq!(trace.observe(b"odd\x7fname"), Observed::New);
    trace.finish();
    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.names, ["odd\u{7f}name"]);
    assert_eq!(recording.state, ProcessState::BrokenLine);
}

/// Far more names than any program has are not kept, and not forgotten silently.
#[test]
fn more_names_than_the_set_takes_are_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let mut trace = Trace::create(folder.path(), &CUDA).unwrap();
    let names = 1 << 20;
    for number in 0..names {
        assert_eq!(
            trace.observe(format!("k{number}").as_bytes()),
            Observed::New
        );
    }
    assert_eq!(trace.observe(b"one_more"), Observed::Refused);
    assert_eq!(trace.observe(b"k7"), Observed::Known);
    trace.finish();
    let bytes = read_back(trace.path());
    let recording = Recording::read(&bytes);
    assert_eq!(recording.first_error.as_deref(), Some("error=set-capacity"));
    assert_eq!(recording.names.len(), names);
}
