//! Checked texts, digests, times, exit statuses.

use kernrec_schemas::exit::Exit;
use kernrec_schemas::id::Hasher;
use kernrec_schemas::{
    Backend, BuildNumber, Commit, Digest, Generation, JobId, KernelName, Nonce, Pipeline, StepKey,
    Timestamp, Variant,
};

#[test]
fn commits_and_pipelines_are_one_safe_path_segment() {
    let longest = "a".repeat(128);
    for good in ["c0de", "v1.2_3-x", "0", longest.as_str()] {
        assert!(Commit::new(good).is_ok(), "{good}");
        assert!(Pipeline::new(good).is_ok(), "{good}");
    }
    let long = "a".repeat(129);
    let bad = [
        "",
        ".",
        "..",
        ".git",
        "-rf",
        "--exec=x",
        "a/b",
        "a\\b",
        "a b",
        "a\n",
        "é",
        "a%2f",
        "a?b",
        "a\0",
        long.as_str(),
    ];
    for bad in bad {
        assert!(Commit::new(bad).is_err(), "{bad:?}");
        assert!(Pipeline::new(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn job_ids_step_keys_and_variants() {
    assert!(JobId::new("0190-ab cd:ef").is_ok());
    for bad in ["", ".", "..", "a/b", "a\nb", "a\u{85}b", &"x".repeat(256)] {
        assert!(JobId::new(bad).is_err(), "{bad:?}");
    }
    assert!(StepKey::new("amd-é / any text").is_ok());
    for bad in ["", "a\tb", &"x".repeat(1025)] {
        assert!(StepKey::new(bad).is_err(), "{bad:?}");
    }
    assert!(Variant::new("").unwrap().is_default());
    assert!(!Variant::new("cu130").unwrap().is_default());
    for bad in [".", "a/b", "-x", &"x".repeat(65)] {
        assert!(Variant::new(bad).is_err(), "{bad:?}");
    }
}

#[test]
fn kernel_names_are_one_line_and_no_comment() {
    for good in [
        "k",
        "_Z9demoScalePfi",
        "a#b",
        "void f<int>(float*)",
        &"x".repeat(65_536),
    ] {
        assert!(KernelName::new(good).is_ok(), "{good:.20}");
    }
    for bad in ["", "#", "# end", "a\nb", "a\rb", &"x".repeat(65_537)] {
        assert!(KernelName::new(bad).is_err(), "{bad:.20?}");
    }
}

#[test]
fn an_invalid_text_is_quoted_short_and_escaped() {
    let error = Commit::new(format!("\u{1b}[31m{}", "x".repeat(500))).unwrap_err();
    assert_eq!(error.kind, "commit");
    let message = error.to_string();
    assert!(message.contains("\\u{1b}[31mxxx"), "{message}");
    assert!(message.len() < 300, "{message}");
}

#[test]
fn nonces_are_32_lower_case_hex_digits() {
    assert!(Nonce::new("0123456789abcdef0123456789abcdef").is_ok());
    for bad in [
        "",
        "0123456789abcdef",
        "0123456789ABCDEF0123456789ABCDEF",
        "0123456789abcdef0123456789abcdeg",
    ] {
        assert!(Nonce::new(bad).is_err(), "{bad}");
    }
}

#[test]
fn digests_are_blake3_of_the_bytes() {
    // The empty input's hash, as the BLAKE3 paper's test vectors give it.
    let empty = "b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(Digest::of(b"").to_string(), empty);
    assert_eq!(empty.parse::<Digest>().unwrap(), Digest::of(b""));
    let mut hasher = Hasher::new();
    hasher.update(b"ab");
    hasher.update(b"c");
    assert_eq!(hasher.digest(), Digest::of(b"abc"));
    let digest = Digest::of(b"abc");
    assert_eq!(Digest::from_hex(&digest.hex()).unwrap(), digest);
    assert_eq!(digest.to_string(), format!("b3:{}", digest.hex()));
}

#[test]
fn malformed_digests_are_refused() {
    let hex = Digest::of(b"abc").hex();
    let bad = [
        hex.clone(),
        format!("b3:{}", hex.to_uppercase()),
        format!("B3:{hex}"),
        format!("sha256:{hex}"),
        format!("b3:{}", &hex[1..]),
        format!("b3:{hex}0"),
        format!("b3:{}g", &hex[1..]),
        format!("b3: {hex}"),
        String::new(),
    ];
    for bad in bad {
        assert!(bad.parse::<Digest>().is_err(), "{bad}");
    }
}

#[test]
fn times_are_read_with_any_offset_and_written_in_utc() {
    let cases = [
        ("2030-01-01T00:00:00Z", "2030-01-01T00:00:00Z"),
        ("2030-01-01T00:00:00+00:00", "2030-01-01T00:00:00Z"),
        ("2030-01-01T02:30:00+02:30", "2030-01-01T00:00:00Z"),
        ("2029-12-31T19:00:00-05:00", "2030-01-01T00:00:00Z"),
        ("2030-01-01T00:00:00.999999Z", "2030-01-01T00:00:00Z"),
        ("0000-01-01T00:00:00Z", "0000-01-01T00:00:00Z"),
    ];
    for (text, written) in cases {
        assert_eq!(
            text.parse::<Timestamp>().unwrap().to_string(),
            written,
            "{text}"
        );
    }
}

#[test]
fn what_is_not_a_time_is_refused() {
    let bad = [
        "",
        "2030-01-01",
        "2030-01-01T00:00:00",
        "2030-01-01 00:00:00Z",
        "2030-01-01t00:00:00z",
        "2030-13-01T00:00:00Z",
        "2030-02-30T00:00:00Z",
        "2030-01-01T25:00:00Z",
        "2030-1-1T00:00:00Z",
        "2030-01-01T00:00:00.Z",
        "2030-01-01T00:00:00+0000",
        "2030-01-01T00:00:00Z[UTC]",
        "2030-01-01T00:00:00+00:00[Europe/Berlin]",
        "-000001-01-01T00:00:00Z",
        "20300101T000000Z",
        "0000-01-01T00:00:00+01:00",
        "1893456000",
        "2030-01-01T00:00:00Zé",
        "2030-01-01T00:00:0é",
    ];
    for bad in bad {
        assert!(bad.parse::<Timestamp>().is_err(), "{bad}");
    }
}

#[test]
fn unix_seconds_round_trip_within_four_digit_years() {
    for seconds in [0, 1_893_456_000, -1, -62_167_219_200] {
        let time = Timestamp::from_unix(seconds).unwrap();
        assert_eq!(time.unix(), seconds);
        assert_eq!(time.to_string().parse::<Timestamp>().unwrap(), time);
    }
    for seconds in [i64::MIN, i64::MAX, -62_167_219_201, 253_402_300_800] {
        assert_eq!(Timestamp::from_unix(seconds), None, "{seconds}");
    }
    let (early, late) = (
        Timestamp::from_unix(10).unwrap(),
        Timestamp::from_unix(25).unwrap(),
    );
    assert_eq!(late.seconds_since(early), 15);
    assert_eq!(early.seconds_since(late), -15);
}

#[test]
fn counters_and_words() {
    assert_eq!(Generation(1).next(), Some(Generation(2)));
    assert_eq!(Generation(u64::MAX).next(), None);
    assert_eq!("12".parse::<BuildNumber>().unwrap(), BuildNumber(12));
    for bad in ["", "-1", "1.0", "0x1", "18446744073709551616"] {
        assert!(bad.parse::<BuildNumber>().is_err(), "{bad}");
    }
    for backend in Backend::ALL {
        assert_eq!(backend.as_str().parse::<Backend>().unwrap(), backend);
    }
    assert!("CUDA".parse::<Backend>().is_err());
}

#[test]
fn the_worst_exit_wins_whatever_the_order() {
    let worst_first = [
        Exit::Unknown,
        Exit::Failed,
        Exit::Usage,
        Exit::Refused,
        Exit::Superseded,
        Exit::RunEverything,
        Exit::Done,
    ];
    for (at, worse) in worst_first.into_iter().enumerate() {
        for other in &worst_first[at..] {
            assert_eq!(worse.worst(*other), worse);
            assert_eq!(other.worst(worse), worse);
        }
    }
    let mut codes = Exit::ALL.map(Exit::code);
    codes.sort_unstable();
    assert_eq!(codes, [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(
        Exit::ALL.map(Exit::code)[..5],
        [5, 1, 3, 4, 0],
        "worst first, as documented"
    );
}
