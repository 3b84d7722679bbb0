//! A store behind a plain web server: read, never written, and not listed.

use crate::support::{ci, damage, published, table_key};
use kernrec_admin::check::{Check, Promise, Verdict, check};
use kernrec_admin::fsck::{FsckOptions, fsck};
use kernrec_admin::gc::{DEFAULT_GRACE, GcOptions, gc};
use kernrec_admin::history::history;
use kernrec_schemas::{Backend, Digest};
use kernrec_store::remote::{RemoteOptions, open_remote};
use kernrec_store::{Store, objects};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// What the server does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// It answers with everything, whatever part is asked for.
    NoRanges,
    /// It answers a page for what is not there.
    Page,
}

/// Serves a folder on loopback until the process ends.
fn serve(root: &Path, fault: Fault) -> Box<dyn Store> {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let root = root.to_path_buf();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let root = root.clone();
            std::thread::spawn(move || answer(stream, &root, fault));
        }
    });
    open_remote(&url, &RemoteOptions::default()).unwrap()
}

/// One request; the connection is closed after it.
fn answer(mut stream: TcpStream, root: &Path, fault: Fault) {
    let mut lines = BufReader::new(stream.try_clone().unwrap())
        .lines()
        .map_while(Result::ok);
    let Some(first) = lines.next() else {
        return;
    };
    let headers: Vec<(String, String)> = lines
        .take_while(|line| !line.is_empty())
        .filter_map(|line| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_lowercase(), value.to_owned()))
        })
        .collect();
    let header = |name: &str| {
        let found = headers.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.as_str())
    };
    let mut words = first.split(' ');
    let (method, path) = (words.next().unwrap(), words.next().unwrap());
    let path: PathBuf = root.join(path.trim_start_matches('/'));
    let range = header("range").and_then(|range| range.strip_prefix("bytes=")?.strip_suffix('-'));
    let (head, body) = reply(&path, range, header("if-none-match"), fault);
    let length = body.len();
    let head = format!("HTTP/1.1 {head}Content-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(head.as_bytes());
    if method == "GET" {
        let _ = stream.write_all(&body);
    }
}

fn reply(path: &Path, range: Option<&str>, known: Option<&str>, fault: Fault) -> (String, Vec<u8>) {
    let Ok(whole) = fs_err::read(path) else {
        return match fault {
            Fault::Page => (
                "200 OK\r\nContent-Type: text/html\r\n".to_owned(),
                b"<html>".to_vec(),
            ),
            _ => ("404 Not Found\r\n".to_owned(), Vec::new()),
        };
    };
    let mark = format!("\"{}\"", &Digest::of(&whole).hex()[..32]);
    if known == Some(&mark) {
        return (format!("304 Not Modified\r\nETag: {mark}\r\n"), Vec::new());
    }
    match range.filter(|_| fault != Fault::NoRanges) {
        None => (format!("200 OK\r\nETag: {mark}\r\n"), whole),
        Some(from) => {
            let at: usize = from.parse().unwrap();
            let (last, all) = (whole.len() - 1, whole.len());
            let head = format!("206 Partial Content\r\nContent-Range: bytes {at}-{last}/{all}\r\n");
            (format!("{head}ETag: {mark}\r\n"), whole[at..].to_vec())
        }
    }
}

fn verdicts(found: &Check) -> Vec<(Promise, &'static str)> {
    let verdict = |(promise, verdict): &(Promise, Verdict)| (*promise, verdict.word());
    found.promises.iter().map(verdict).collect()
}

#[test]
fn what_readers_rely_on_is_tried_on_what_is_published() {
    let fixture = published(&[1, 2]);
    let (absence, conditional, ranges) =
        (Promise::Absence, Promise::ConditionalRead, Promise::Ranges);
    let cases = [
        (
            Fault::None,
            [(absence, "kept"), (conditional, "kept"), (ranges, "kept")],
        ),
        (
            Fault::NoRanges,
            [(absence, "kept"), (conditional, "kept"), (ranges, "broken")],
        ),
        (
            Fault::Page,
            [
                (absence, "not-told"),
                (conditional, "kept"),
                (ranges, "kept"),
            ],
        ),
    ];
    for (fault, expected) in cases {
        let store = serve(&fixture.root(), fault);
        let found = check(&*store, &ci()).unwrap();
        assert!(found.read_only, "{fault:?}");
        assert_eq!(verdicts(&found), expected, "{fault:?}");
    }
}

#[test]
fn records_are_read_and_checked_without_a_listing() {
    let fixture = published(&[1, 2]);
    let store = serve(&fixture.root(), Fault::None);
    let found = history(&*store, &ci(), Backend::Cuda, 10).unwrap().unwrap();
    assert_eq!(found.records, 2);
    for quick in [true, false] {
        let options = FsckOptions {
            quick,
            bundles: true,
            pipeline: ci(),
            require_keys: kernrec_store::signing::TrustedKeys::default(),
        };
        let found = fsck(&*store, &options).unwrap();
        assert_eq!((found.pointers, found.records, found.checked), (1, 2, 7));
        assert!(found.findings.is_empty(), "{:?}", found.findings);
        assert!(found.orphans.is_none(), "nobody can list what is there");
    }
    let table = table_key(&fixture, 2);
    damage(&fixture, &table);
    let options = FsckOptions {
        quick: false,
        bundles: false,
        pipeline: ci(),
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    let found = fsck(&*store, &options).unwrap();
    assert_eq!(found.findings.len(), 1);
    assert_eq!(found.findings[0].key, table);
}

#[test]
fn nothing_is_removed_or_written_over_http() {
    let fixture = published(&[1]);
    let store = serve(&fixture.root(), Fault::None);
    let options = GcOptions {
        grace: DEFAULT_GRACE,
        delete: true,
        quiescent: false,
        accept_broken: false,
        require_keys: kernrec_store::signing::TrustedKeys::default(),
    };
    assert_eq!(
        gc(&*store, &options).unwrap_err().reason(),
        "store-unsupported"
    );
    assert_eq!(
        objects::put(&*store, b"x").unwrap_err().reason(),
        "store-unsupported"
    );
}
