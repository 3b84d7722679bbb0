//! A workload cannot tell that it is recorded, but for the documented variables, and nobody else can tell
//! by what comes out of it.

use crate::bench::{Bench, HOST, HOSTILE, shell_status, text};
use std::ffi::OsString;
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

/// Runs a command plainly and recorded, and compares all that comes out.
fn compare(bench: &Bench, command: &[&str], input: &[u8]) -> Output {
    let plain = with_input(bench.command(command[0]).args(&command[1..]), input);
    let recorded = with_input(&mut bench.recorded(command), input);
    let shown = text(&recorded.stderr);
    assert_eq!(shell_status(&recorded), shell_status(&plain), "{shown}");
    assert!(
        recorded.stdout == plain.stdout,
        "{}",
        difference(&plain, &recorded)
    );
    assert!(recorded.stderr == plain.stderr, "{shown}");
    let sidecar = bench.bundle().sidecar;
    assert_eq!(sidecar.exit_status, Some(shell_status(&plain).into()));
    assert_eq!(sidecar.collection_available, Some(true), "{sidecar:?}");
    assert_eq!(sidecar.collection_error, None);
    recorded
}

fn difference(plain: &Output, recorded: &Output) -> String {
    let (plain, recorded) = (text(&plain.stdout), text(&recorded.stdout));
    let mut lines = plain.lines().zip(recorded.lines());
    format!("{:?}", lines.find(|(plain, recorded)| plain != recorded))
}

fn with_input(command: &mut Command, input: &[u8]) -> Output {
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || {
        // A workload need not read it.
        let _ = stdin.write_all(&input);
    });
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

#[test]
fn everything_a_program_can_see_is_the_same() {
    let output = compare(&Bench::new(), &[HOSTILE, "facts", "an argument"], b"");
    assert!(text(&output.stdout).contains("descriptor 2\n"));
    assert!(!text(&output.stdout).contains("descriptor 3\n"));
}

/// Ignored and blocked signals, a closed descriptor and a mask come from whoever starts us. The language's
/// start-up code changes some of them in every program.
#[test]
fn odd_beginnings_are_passed_on() {
    let bench = Bench::new();
    let plain = bench
        .command(HOSTILE)
        .args(["odd", HOSTILE, "facts"])
        .output()
        .unwrap();
    let mut recorded = bench.command(HOSTILE);
    recorded.args(["odd", HOST, "run", "--step", "demo", "--", HOSTILE, "facts"]);
    let recorded = recorded.output().unwrap();
    assert!(text(&plain.stdout).contains("Umask:\t0027"));
    assert!(
        plain == recorded,
        "{}{}",
        difference(&plain, &recorded),
        text(&recorded.stderr)
    );
}

#[test]
fn statuses_are_kept() {
    for script in [
        "exit 0",
        "exit 7",
        "exit 255",
        "kill -SEGV $$",
        "kill -KILL $$",
        "kill -TERM $$",
    ] {
        compare(&Bench::new(), &["sh", "-c", script], b"");
    }
}

#[test]
fn descriptors_may_all_be_closed() {
    compare(&Bench::new(), &[HOSTILE, "close-descriptors"], b"");
}

#[test]
fn signals_may_be_reset() {
    compare(&Bench::new(), &[HOSTILE, "reset-signals"], b"");
}

#[test]
fn the_folder_and_the_library_path_may_change() {
    let script = "cd / && unset LD_LIBRARY_PATH && LD_LIBRARY_PATH=/nowhere pwd && exit 3";
    compare(&Bench::new(), &["sh", "-c", script], b"");
}

#[test]
fn the_environment_may_be_thrown_away() {
    compare(
        &Bench::new(),
        &["env", "-i", "/bin/sh", "-c", "echo $PATH; exit 4"],
        b"",
    );
}

#[test]
fn input_reaches_the_workload_to_the_last_byte() {
    let input: Vec<u8> = (0..3_000_000_u32).map(|n| n.to_le_bytes()[0]).collect();
    let output = compare(&Bench::new(), &["cat"], &input);
    assert!(output.stdout == input);
}

#[test]
fn much_output_arrives_unchanged() {
    compare(&Bench::new(), &[HOSTILE, "print", "64"], b"");
}

/// Faster than `compare` could hold and compare it: looked at as it comes.
#[test]
fn a_gibibyte_of_output_arrives_to_the_last_byte() {
    use std::io::Read as _;
    const LINE: &[u8] = b"a line of output that is 64 bytes long, and the same every time\n";
    let bench = Bench::new();
    let line = text(&LINE[..63]);
    let script = format!("yes '{line}' | head -c 1073741824; exit 3");
    let mut command = bench.recorded(&["sh", "-c", &script]);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut output = child.stdout.take().unwrap();
    let expected = LINE.repeat(1 << 14);
    let (mut chunk, mut bytes) = (vec![0; expected.len()], 0);
    while bytes < 1 << 30 {
        output.read_exact(&mut chunk).unwrap();
        assert!(chunk == expected, "after {bytes} bytes");
        bytes += chunk.len();
    }
    assert_eq!(output.read(&mut chunk).unwrap(), 0);
    assert_eq!(child.wait().unwrap().code(), Some(3));
    assert_eq!(bench.bundle().sidecar.exit_status, Some(3));
}

#[test]
fn five_hundred_children_are_the_workloads_own() {
    compare(&Bench::new(), &[HOSTILE, "children"], b"");
}

#[test]
fn a_static_program_runs() {
    let bench = Bench::new();
    let path = bench.path("static");
    fs_err::write(&path, static_program()).unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs_err::set_permissions(&path, mode).unwrap();
    let program = path.to_str().unwrap();
    let output = compare(&bench, &["sh", "-c", &format!("exec {program}")], b"");
    assert_eq!(output.status.code(), Some(42));
}

/// The smallest program that exits with 42: a header, one segment, and three instructions.
fn static_program() -> Vec<u8> {
    let (machine, code): (u16, &[u8]) = if cfg!(target_arch = "x86_64") {
        // mov edi, 42; mov eax, 60; syscall
        (62, &[0xbf, 42, 0, 0, 0, 0xb8, 60, 0, 0, 0, 0x0f, 0x05])
    } else {
        // mov x0, 42; mov x8, 93; svc 0
        (
            183,
            &[0x40, 5, 0x80, 0xd2, 0xa8, 0x0b, 0x80, 0xd2, 1, 0, 0, 0xd4],
        )
    };
    let (base, start) = (0x40_0000_u64, 120_u64);
    let size = start + code.len() as u64;
    let mut elf = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
    for half in [2, machine] {
        elf.extend(half.to_le_bytes());
    }
    elf.extend(1_u32.to_le_bytes());
    for word in [base + start, 64, 0] {
        elf.extend(word.to_le_bytes());
    }
    elf.extend(0_u32.to_le_bytes());
    for half in [64_u16, 56, 1, 0, 0, 0] {
        elf.extend(half.to_le_bytes());
    }
    for word in [1_u32, 5] {
        elf.extend(word.to_le_bytes());
    }
    for word in [0, base, base, size, size, 0x1000] {
        elf.extend(word.to_le_bytes());
    }
    elf.extend(code);
    elf
}

#[test]
fn a_daemon_outlives_the_run() {
    let bench = Bench::new();
    let (plain, recorded) = (bench.path("plain"), bench.path("recorded"));
    for (file, output) in [
        (
            &plain,
            bench
                .command(HOSTILE)
                .arg("daemonise")
                .arg(&plain)
                .output()
                .unwrap(),
        ),
        (&recorded, {
            let command: Vec<OsString> = [HOSTILE, "daemonise", recorded.to_str().unwrap()]
                .iter()
                .map(OsString::from)
                .collect();
            bench.recorded(&command).output().unwrap()
        }),
    ] {
        assert_eq!(
            (shell_status(&output), text(&output.stdout).as_str()),
            (0, "leaving\n")
        );
        while !file.exists() {
            std::thread::yield_now();
        }
    }
}

#[test]
fn commands_that_cannot_run_end_as_in_a_shell() {
    for (command, status) in [
        ("/no/such/program", 127),
        ("no-such-program", 127),
        ("./not-executable", 126),
        ("/", 126),
    ] {
        let bench = Bench::new();
        fs_err::write(bench.path("not-executable"), "").unwrap();
        let output = bench.recorded(&[command]).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{command}");
        assert!(
            text(&output.stderr).contains(command),
            "{}",
            text(&output.stderr)
        );
        assert_eq!(bench.bundle().sidecar.exit_status, Some(status.into()));
    }
}

#[test]
fn a_script_without_a_first_line_runs_in_a_shell() {
    let bench = Bench::new();
    let path = bench.path("script");
    fs_err::write(&path, "echo from the script; exit 6\n").unwrap();
    fs_err::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let output = bench.recorded(&["./script"]).output().unwrap();
    assert_eq!(output.status.code(), Some(6));
    assert_eq!(text(&output.stdout), "from the script\n");
}

/// The variables need room, and there may be none: the largest environment in which the launcher starts has
/// too little of it for a recorded workload.
#[test]
fn an_environment_as_large_as_can_be_still_starts() {
    let (mut starts, mut does_not) = (0, 128 * 1024);
    while does_not - starts > 1 {
        let size = usize::midpoint(starts, does_not);
        let (status, _) = in_an_environment_of(size);
        if status == 126 {
            does_not = size;
        } else {
            assert_eq!(status, 8, "{size}");
            starts = size;
        }
    }
    let (status, bench) = in_an_environment_of(starts);
    assert_eq!(status, 8);
    let error = bench.bundle().sidecar.collection_error.unwrap();
    assert!(error.starts_with("environment-too-large: "), "{error}");
}

fn in_an_environment_of(size: usize) -> (i32, Bench) {
    let bench = Bench::new();
    // The least that the system allows for arguments and environment is 128 KiB.
    let script = "ulimit -s 512; export X=$(printf '%0*d' $SIZE 1); exec \"$@\"";
    let mut shell = bench.command("bash");
    shell
        .args(["-c", script, "bash"])
        .env("SIZE", size.to_string());
    let recorded = bench.recorded(&["/bin/sh", "-c", "exit 8"]);
    shell.arg(recorded.get_program()).args(recorded.get_args());
    (shell_status(&shell.output().unwrap()), bench)
}

/// A shell that is interrupted ends its script only if what it waits for was ended by the interrupt.
#[test]
fn an_interrupt_is_passed_up() {
    use std::os::unix::process::ExitStatusExt as _;
    let bench = Bench::new();
    let output = compare(&bench, &["sh", "-c", "kill -INT $$"], b"");
    assert_eq!(output.status.signal(), Some(2));
}
