//! One line of damage each: what every near miss of the clean-file rule reads as.

use kernrec_schemas::recording::{ProcessState, Recording};

pub(crate) const HEADER: &str =
    "# kernrec v1 backend=cuda recorder=cupti pid=310 ppid=301 exe=/opt/py/bin/python\n";
pub(crate) const NAMES: &str = "_Z9demoScalePfi\ndemo_triton_add\n";
pub(crate) const FOOTER: &str = "# end records=52 unique=2 dropped=0 errors=0 unresolved=0\n";

/// The documented clean recording.
pub(crate) fn clean() -> String {
    format!("{HEADER}{NAMES}{FOOTER}")
}

/// What is tried, a text of the clean recording, what takes its place, and the state.
type Edit = (&'static str, &'static str, &'static str, ProcessState);
/// What is tried, the recording with `{H}`, `{N}`, `{F}` for the parts of the clean one (`{O}` for the first
/// version's header), and the state.
type Whole = (&'static str, &'static str, ProcessState);

use ProcessState::{
    BadFooter, BadHeader, BrokenLine, Clean, Dropped, DuplicateHeader, Error, Legacy, NoFooter,
};

#[rustfmt::skip]
const EDITS: &[Edit] = &[
    ("more records than names", "records=52", "records=9999999", Clean),
    ("as many records as names", "records=52", "records=2", Clean),
    ("a path with spaces", "/opt/py", "/opt/my py", Clean),
    ("an unknown header field", "pid=310", "pid=310 host=n1", Clean),
    ("an unknown footer field", "records", "seconds=1.5 records", Clean),

    ("one name more than counted", "unique=2", "unique=1", BadFooter),
    ("one name fewer than counted", "unique=2", "unique=3", BadFooter),
    ("fewer records than names", "records=52", "records=1", BadFooter),
    ("no records", "records=52 ", "", BadFooter),
    ("no unique", "unique=2 ", "", BadFooter),
    ("no dropped", "dropped=0 ", "", BadFooter),
    ("no errors", "errors=0 ", "", BadFooter),
    ("no unresolved", " unresolved=0", "", BadFooter),
    ("a footer key twice", "unique=2", "unique=2 unique=2", BadFooter),
    ("a counted error", "errors=0", "errors=1", Error),
    ("an unresolved record", "unresolved=0", "unresolved=1", Error),
    ("a lost record", "dropped=0", "dropped=1", Dropped),
    ("a negative number", "dropped=0", "dropped=-1", Error),
    ("a signed number", "unique=2", "unique=+2", Error),
    ("a fraction", "unique=2", "unique=2.0", Error),
    ("an empty number", "errors=0", "errors=", Error),
    ("a word for a number", "records=52", "records=many", Error),
    ("beyond 64 bits", "records=52", "records=18446744073709551616", Error),
    ("a footer without its line end", "unresolved=0\n", "unresolved=0", BrokenLine),
    ("a carriage return in the footer", "unresolved=0\n", "unresolved=0\r\n", Error),

    ("an unknown backend", "backend=cuda", "backend=xpu", BadHeader),
    ("another backend's recorder", "cupti", "rocprofiler-sdk", BadHeader),
    ("no recorder", "recorder=cupti ", "", BadHeader),
    ("no backend", "backend=cuda ", "", BadHeader),
    ("a header key twice", " pid=310", " pid=310 pid=310", BadHeader),
    ("an unknown header key twice", " pid=310", " pid=310 x=1 x=2", BadHeader),
    ("a malformed pid", " pid=310", " pid=abc", BadHeader),
    ("a negative pid", " pid=310", " pid=-1", BadHeader),
    ("another version", "# kernrec v1 ", "# kernrec v2 ", BadHeader),
    ("no space after the header's mark", "# kernrec v1 ", "# kernrec v1", BadHeader),
    ("another case", "# kernrec", "# Kernrec", BadHeader),

    ("a name with a carriage return", "_triton_add\n", "_other\r\n", BrokenLine),
    ("a name that ends in a space", "demo_triton_add", "demo_triton_add ", BrokenLine),
    ("a name that begins with a space", "demo_triton_add", " demo_triton_add", BrokenLine),
    ("a name with a tab", "demo_triton_add", "demo_triton\tadd", BrokenLine),
    ("NULs of a lost write", "demo_triton_add", "\0\0\0", BrokenLine),
];

#[rustfmt::skip]
const WHOLES: &[Whole] = &[
    ("the documented recording", "{H}{N}{F}", Clean),
    ("empty lines", "\n{H}\n{N}\n\n{F}\n\n", Clean),
    ("metadata", "{H}# hostname=n1\n#\n{N}{F}", Clean),
    ("metadata before the header", "# note\n{H}{N}{F}", Clean),
    ("a repeated name", "{H}{N}{N}{F}", Clean),
    ("a zero drop line", "{H}{N}# dropped=0\n{F}", Clean),
    ("no name at all", "{H}# end records=0 unique=0 dropped=0 errors=0 unresolved=0\n", Clean),

    ("no footer", "{H}{N}", NoFooter),
    ("a name after the footer", "{H}_Z9demoScalePfi\n{F}demo_triton_add\n", BadFooter),
    ("metadata after the footer", "{H}{N}{F}# note\n", BadFooter),
    ("two footers", "{H}{N}{F}{F}", BadFooter),
    ("a footer cut after its mark", "{H}{N}# end\n", BadFooter),
    ("an earlier footer with an error", "{H}{N}# end records=2 unique=2 dropped=0 errors=1 unresolved=0\n{F}", Error),

    ("no header", "{N}{F}", BadHeader),
    ("a name before the header", "_Z9demoScalePfi\n{H}demo_triton_add\n{F}", BadHeader),
    ("two headers", "{H}{H}{N}{F}", DuplicateHeader),
    ("a second header at the end", "{H}{N}{F}{H}", DuplicateHeader),
    ("a header of an unknown version beside it", "{H}# kernrec v2 x=1\n{N}{F}", BrokenLine),

    ("an error", "{H}{N}# error=set-allocation\n{F}", Error),
    ("an unknown error", "{H}{N}# error=of_tomorrow with words\n{F}", Error),
    ("an error by prefix", "{H}{N}# errors were seen\n{F}", Error),
    ("an error after the footer", "{H}{N}{F}# error=final-flush\n", Error),
    ("a drop", "{H}{N}# dropped=3\n{F}", Dropped),
    ("a malformed drop", "{H}{N}# dropped=x\n{F}", Error),
    ("a negative drop", "{H}{N}# dropped=-3\n{F}", Error),
    ("a malformed SDK version", "{H}# sdk_version=x build_sdk_version=1\n{N}{F}", Error),
    ("a malformed build SDK version", "{H}# sdk_version=1 build_sdk_version=x\n{N}{F}", Error),
    ("an SDK version twice", "{H}# sdk_version=1 sdk_version=1\n{N}{F}", Error),
    ("a last line without its end", "{H}{N}{F}# note", BrokenLine),

    ("the first version", "{O}{N}# dropped=0\n# end records=52 unique=2 dropped=0\n", Legacy),
    ("an old header, a new footer", "{O}{N}{F}", Legacy),
    ("a new header, an old footer", "{H}{N}# end records=52 unique=2 dropped=0\n", Legacy),
    ("the first version, killed", "{O}{N}", NoFooter),
    ("the first version, a name lost", "{O}_Z9demoScalePfi\n# end records=52 unique=2 dropped=0\n", BadFooter),
    ("the first version, dropped", "{O}{N}# dropped=1\n# end records=52 unique=2 dropped=1\n", Dropped),
];

#[test]
fn edits_of_the_clean_recording() {
    for &(what, from, to, expected) in EDITS {
        assert!(clean().contains(from), "{what}: nothing to replace");
        check(what, &clean().replacen(from, to, 1), expected);
    }
}

#[test]
fn whole_recordings() {
    let old = "# kernrec v1 pid=310 ppid=301 exe=/opt/py/bin/python\n";
    for &(what, template, expected) in WHOLES {
        let parts = [
            ("{H}", HEADER),
            ("{N}", NAMES),
            ("{F}", FOOTER),
            ("{O}", old),
        ];
        let text = parts
            .iter()
            .fold(template.to_owned(), |text, (mark, part)| {
                text.replace(mark, part)
            });
        check(what, &text, expected);
    }
}

#[track_caller]
fn check(what: &str, text: &str, expected: ProcessState) {
    let recording = Recording::read(text.as_bytes());
    assert_eq!(recording.state, expected, "{what}:\n{text}");
    for name in NAMES.lines() {
        let written = text.lines().any(|line| line == name);
        let kept = recording.names.iter().any(|kept| kept == name);
        assert!(
            kept || !written,
            "{what}: `{name}` must be kept whatever the state"
        );
    }
}
