//! Running another program: its output bounded, its time limited.

use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// The most output that is read; a listing of 100,000 artifacts is a tenth of it.
const MAX_OUTPUT: u64 = 256 << 20;
/// How long the output may stay open after the end, in the hands of a program that the program left behind.
const LEFT_OPEN: Duration = Duration::from_secs(5);
/// The pause between two looks at a running program.
const LOOK: Duration = Duration::from_millis(10);
/// The most of a program's complaint that is repeated, in characters.
const MAX_COMPLAINT: usize = 300;

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Ended {
    status: ExitStatus,
    /// Its stdout.
    pub(crate) stdout: Vec<u8>,
    stderr: Vec<u8>,
}

impl Ended {
    pub(crate) fn is_success(&self) -> bool {
        self.status.success()
    }

    /// All it said on stderr.
    pub(crate) fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr).into_owned()
    }

    /// Its status and the last line it said.
    pub(crate) fn complaint(&self) -> String {
        let said = self.stderr();
        let mut lines = said.lines().map(str::trim);
        let last = lines.rfind(|line| !line.is_empty());
        let last: String = last
            .unwrap_or_default()
            .chars()
            .take(MAX_COMPLAINT)
            .collect();
        format!("{}: {last}", self.status)
    }
}

/// Runs a program to its end, or kills it when its time is over.
pub(crate) fn run(command: &mut Command, input: &[u8], limit: Duration) -> io::Result<Ended> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = reading(child.stdout.take());
    let stderr = reading(child.stderr.take());
    let mut stdin = child.stdin.take();
    let input = input.to_vec();
    // A program need not read what it is given.
    thread::spawn(move || stdin.as_mut().map(|stdin| stdin.write_all(&input)));
    let status = end_of(&mut child, limit)?;
    let all = |from: mpsc::Receiver<Vec<u8>>| from.recv_timeout(LEFT_OPEN).unwrap_or_default();
    Ok(Ended {
        status,
        stdout: all(stdout),
        stderr: all(stderr),
    })
}

fn end_of(child: &mut Child, limit: Duration) -> io::Result<ExitStatus> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(status);
        }
        if start.elapsed() > limit {
            child.kill()?;
            child.wait()?;
            let problem = format!("it ran longer than {} s and was killed", limit.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, problem));
        }
        thread::sleep(LOOK);
    }
}

fn reading(from: Option<impl Read + Send + 'static>) -> mpsc::Receiver<Vec<u8>> {
    let (send, receive) = mpsc::channel();
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(from) = from {
            // What came before an error is all there is to show.
            let _ = from.take(MAX_OUTPUT).read_to_end(&mut bytes);
        }
        let _ = send.send(bytes);
    });
    receive
}

#[cfg(test)]
mod tests {
    use super::run;
    use std::process::Command;
    use std::time::Duration;

    const LONG: Duration = Duration::from_mins(1);

    #[test]
    fn both_outputs_and_the_status_are_seen() {
        let script = "cat; echo first >&2; echo second >&2; echo >&2; exit 3";
        let ended = run(Command::new("sh").args(["-c", script]), b"given", LONG).unwrap();
        assert!(!ended.is_success());
        assert_eq!(ended.stdout, b"given");
        assert_eq!(ended.complaint(), "exit status: 3: second");
    }

    #[test]
    fn a_program_that_hangs_is_killed_and_its_children_are_not_waited_for() {
        let mut command = Command::new("sh");
        let error = run(
            command.args(["-c", "sleep 600"]),
            b"",
            Duration::from_millis(50),
        )
        .unwrap_err();
        assert!(error.to_string().contains("was killed"), "{error}");
    }

    #[test]
    fn a_program_that_is_not_there() {
        assert!(run(&mut Command::new("/nonexistent/agent"), b"", LONG).is_err());
    }
}
