//! A real S3 server on loopback: seaweedfs, installed by scripts/test.sh.

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

pub(crate) const BUCKET: &str = "records";
pub(crate) const WRITER: (&str, &str) = ("writer-key", "writer-secret");
pub(crate) const READER: (&str, &str) = ("reader-key", "reader-secret");

/// Long enough for a machine that is busy with other tests; the server usually answers after 3 s.
const START: Duration = Duration::from_secs(45);
/// Another program may take one of the eight ports before the server does, and then it never answers.
const STARTS: u16 = 4;

/// A running server; killed when dropped.
pub(crate) struct Seaweed {
    child: Child,
    pub(crate) endpoint: String,
    _folder: tempfile::TempDir,
}

impl Seaweed {
    /// Starts a server and creates the bucket.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn start() -> Self {
        Self::start_with(&identities())
    }

    /// As [`Self::start`]; anyone may read the bucket.
    #[allow(dead_code, reason = "not every test needs it")]
    pub(crate) fn start_public() -> Self {
        let anyone = format!(r#",{{"name":"anonymous","actions":["Read:{BUCKET}"]}}]}}"#);
        Self::start_with(&identities().replace("]}]}", &format!("]}}{anyone}")))
    }

    fn start_with(identities: &str) -> Self {
        (0..STARTS)
            .find_map(|attempt| Self::try_start(identities, attempt))
            .unwrap_or_else(|| panic!("seaweedfs did not start within {STARTS} times {START:?}"))
    }

    fn try_start(identities: &str, attempt: u16) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("s3.json");
        fs_err::write(&config, identities).unwrap();
        let port = free_ports(attempt);
        let log = fs_err::File::create(folder.path().join("log"))
            .unwrap()
            .into_file();
        let child = Command::new(weed())
            .args(["server", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", "-s3"])
            .args(["-s3.port.iceberg=0", "-s3.port.lance=0", "-s3.iam=false"])
            .args(["-s3.autoCreateBucket=false", "-master.telemetry=false"])
            .args(["-master.volumeSizeLimitMB=64", "-volume.max=200"])
            .arg(format!("-dir={}", folder.path().display()))
            .arg(format!("-s3.config={}", config.display()))
            .arg(format!("-s3.port={port}"))
            .arg(format!("-master.port={}", port + 1))
            .arg(format!("-volume.port={}", port + 2))
            .arg(format!("-filer.port={}", port + 3))
            .current_dir(folder.path())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let mut server = Self {
            child,
            endpoint: format!("http://127.0.0.1:{port}"),
            _folder: folder,
        };
        server.create_bucket().then_some(server)
    }

    /// Asks until the server creates the bucket: proof that every part of it is up. False when it is not, in time.
    fn create_bucket(&mut self) -> bool {
        let start = Instant::now();
        while !self.try_create_bucket() {
            let has_ended = self.child.try_wait().unwrap().is_some();
            if has_ended || start.elapsed() > START {
                return false;
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        true
    }

    fn try_create_bucket(&self) -> bool {
        let created = Command::new("curl")
            .args([
                "--silent",
                "--show-error",
                "--fail",
                "--max-time",
                "10",
                "-X",
                "PUT",
            ])
            .args(["--aws-sigv4", "aws:amz:us-east-1:s3"])
            .arg("--user")
            .arg(format!("{}:{}", WRITER.0, WRITER.1))
            .arg(format!("{}/{BUCKET}", self.endpoint))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status();
        created.unwrap().success()
    }
}

impl Drop for Seaweed {
    fn drop(&mut self) {
        // SIGTERM takes it 25 s; nothing of its data is wanted.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn identities() -> String {
    let identity = |name: &str, (key, secret): (&str, &str), actions: &str| {
        format!(
            r#"{{"name":"{name}","credentials":[{{"accessKey":"{key}","secretKey":"{secret}"}}],"actions":[{actions}]}}"#
        )
    };
    let writer = identity(
        "writer",
        WRITER,
        r#""Admin","Read","Write","List","Tagging""#,
    );
    let reader = identity("reader", READER, r#""Read","List""#);
    format!(r#"{{"identities":[{writer},{reader}]}}"#)
}

fn weed() -> PathBuf {
    let installed = Path::new(env!("CARGO_MANIFEST_DIR")).join("../.venv/bin/weed");
    let chosen = std::env::var_os("KERNREC_TEST_WEED").map_or(installed, PathBuf::from);
    assert!(
        chosen.is_file(),
        "`{}` is missing: scripts/test.sh installs it",
        chosen.display()
    );
    chosen
}

/// A port whose neighbours and gRPC twins (10,000 above) are free too.
fn free_ports(attempt: u16) -> u16 {
    let free = |port| TcpListener::bind(("127.0.0.1", port)).is_ok();
    // Test processes start together: spread them by process id.
    let own = std::process::id() + u32::from(attempt) * 477;
    let first = 20_000 + u16::try_from(own % 1900).unwrap() * 10;
    let mut candidates = (0..1900).map(|step| 20_000 + (first - 20_000 + step * 10) % 19_000);
    candidates
        .find(|&port| (port..port + 4).all(|port| free(port) && free(port + 10_000)))
        .expect("ten free ports in a row")
}
