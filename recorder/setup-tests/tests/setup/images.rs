//! AMD jobs in the images they run in: all of `run`, and of `env`, a shell and `finish`, with and without an SDK.
//!
//! An image has a shell, the C library, the programs, and nothing else. A system that gives a test a root folder of
//! its own runs the job in there; that is tried before each test, and a job in the image's folder with none of our
//! variables in its environment is run on every system.

use crate::bench::{Bench, Bundle, HOST, library, read_bundle, shell_status, text};
use crate::child;
use kernrec_schemas::recording::ProcessState;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HIP: &str = env!("CARGO_BIN_EXE_setup-fake-hip");

/// Where libraries are in an image.
const RECORDER: &str = "/opt/kernrec/lib/kernrec/libkernrec_rocprofiler.so";
const SDK: &str = "/opt/rocm/lib/librocprofiler-sdk.so.1";

/// Where a job runs.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Place {
    /// In the image's folder.
    Folder,
    /// With the image as its root.
    Root,
}

/// How a job is set up.
#[derive(Debug, Clone, Copy)]
enum Style {
    Plain,
    Run,
    Shell,
}

/// One image and what has been done to it.
struct Image {
    bench: Bench,
    place: Place,
}

/// What a job left.
struct Job {
    output: Output,
    folder: PathBuf,
}

/// Both places, or the one there is.
fn places() -> Vec<Place> {
    let mut unshare = Command::new("unshare");
    unshare.args(["--user", "--map-root-user", "--mount", "true"]);
    let may_unshare = unshare.output().is_ok_and(|output| output.status.success());
    let root = may_unshare.then_some(Place::Root);
    [Place::Folder].into_iter().chain(root).collect()
}

impl Image {
    fn new(place: Place) -> Self {
        let image = Self {
            bench: Bench::new(),
            place,
        };
        for folder in ["proc", "dev", "opt/theirs", "opt/rocm/.info"] {
            fs_err::create_dir_all(image.outside(folder)).unwrap();
        }
        fs_err::write(image.outside("dev/null"), "").unwrap();
        fs_err::write(image.outside("opt/rocm/.info/version"), "7.14.0\n").unwrap();
        image.add(Path::new("/bin/sh"), "bin/sh");
        image.add(Path::new(HOST), "opt/kernrec/bin/kernrec");
        image.add(Path::new(HIP), "opt/hip/fake-hip");
        for (library, path) in [
            ("libkernrec_rocprofiler.so", RECORDER),
            ("libkernrec_fake_rocprofiler.so", SDK),
        ] {
            image.copy(&crate::bench::library(library), path);
        }
        image
    }

    /// A path of the image from outside.
    fn outside(&self, path: &str) -> PathBuf {
        self.bench.path("image").join(path.trim_start_matches('/'))
    }

    /// A path of the image as a job there names it.
    fn inside(&self, path: &str) -> String {
        match self.place {
            Place::Folder => self.outside(path).display().to_string(),
            Place::Root => path.to_owned(),
        }
    }

    /// Puts a program or a library into the image, with the libraries that it needs.
    fn add(&self, file: &Path, path: &str) {
        let needed = Command::new("ldd").arg(file).output().unwrap();
        let needed = text(&needed.stdout);
        let needed = needed
            .split_whitespace()
            .filter(|word| word.starts_with('/'));
        for library in needed {
            self.copy(Path::new(library), library);
        }
        let to = self.outside(path);
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        // They are large, and no test changes them.
        let itself = fs_err::canonicalize(file).unwrap();
        if fs_err::hard_link(itself, &to).is_err() {
            self.copy(file, path);
        }
    }

    fn copy(&self, file: &Path, path: &str) {
        let to = self.outside(path);
        fs_err::create_dir_all(to.parent().unwrap()).unwrap();
        fs_err::copy(file, to).unwrap();
    }

    /// A command in the image, in a new folder there.
    fn command(&self, style: Style, set: &[(&str, String)]) -> (Command, PathBuf) {
        fs_err::create_dir_all(self.outside("jobs")).unwrap();
        let mut names = (0..).map(|n| format!("/jobs/{n}"));
        let is_new = |name: &String| fs_err::create_dir(self.outside(name)).is_ok();
        let name = names.find(is_new).unwrap();
        let folder = self.outside(&name);
        let mut command = match self.place {
            Place::Folder => Command::new("/bin/sh"),
            Place::Root => {
                let mut command = Command::new("unshare");
                command
                    .args(["--user", "--map-root-user", "--mount", "/bin/sh", "-c"])
                    .arg(
                        "set -e; mount --rbind /proc \"$0/proc\"; mount --bind /dev/null \"$0/dev/null\"; \
                         exec chroot \"$0\" \"$@\"",
                    )
                    .arg(self.outside("/"))
                    .arg("/bin/sh");
                command
            }
        };
        command
            .args(["-c", "cd \"$0\"; exec \"$@\""])
            .arg(self.inside(&name))
            .args(["/bin/sh", "-c", &self.script(style)])
            .current_dir("/")
            .env_clear()
            .env("PATH", "/usr/sbin:/usr/bin:/sbin:/bin");
        if self.place == Place::Folder {
            command.env("ROCM_PATH", self.outside("opt/rocm"));
        }
        for (name, value) in set {
            command.env(name, value);
        }
        (command, folder)
    }

    /// The job's commands: one that says once that it runs and what its environment is, uses the GPU, and fails.
    fn script(&self, style: Style) -> String {
        let work = format!(
            "/bin/sh -c 'echo run >>runs; export -p; {} init launch=_Z5firstv*3 graph=4,400 && echo worked; exit 7'",
            self.inside("/opt/hip/fake-hip"),
        );
        let kernrec = self.inside("/opt/kernrec/bin/kernrec");
        let step = "--step demo --job-id j-1 --backend rocm";
        match style {
            Style::Plain => format!("{work}; exit $?"),
            Style::Run => format!("{kernrec} run {step} -- {work}; exit $?"),
            Style::Shell => format!(
                "eval \"$({kernrec} env {step})\"; {work}; status=$?; {kernrec} finish --status $status; exit $status"
            ),
        }
    }

    fn job(&self, style: Style, set: &[(&str, String)]) -> Job {
        let (mut command, folder) = self.command(style, set);
        Job {
            output: command.output().unwrap(),
            folder,
        }
    }
}

impl Job {
    fn said(&self) -> String {
        text(&self.output.stderr)
    }

    /// What the workload printed, but for its environment.
    fn printed(&self) -> Vec<String> {
        let printed = text(&self.output.stdout);
        let lines = printed.lines().filter(|line| !line.starts_with("export "));
        lines.map(str::to_owned).collect()
    }

    /// What the workload had in its environment.
    fn environment(&self) -> BTreeSet<String> {
        let printed = text(&self.output.stdout);
        let lines = printed.lines().filter(|line| line.starts_with("export "));
        lines
            .filter(|line| !line.starts_with("export PWD") && !line.starts_with("export OLDPWD"))
            .map(str::to_owned)
            .collect()
    }

    fn bundle(&self) -> Bundle {
        let entries = fs_err::read_dir(self.folder.join(".kernrec")).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        let bundles: Vec<PathBuf> = paths
            .filter(|path| path.extension().is_some_and(|end| end == "zst"))
            .collect();
        assert_eq!(bundles.len(), 1, "{bundles:?}\n{}", self.said());
        read_bundle(&bundles[0])
    }

    /// It went as it does without us: once, with what it prints and its status.
    fn went_as(&self, plain: &Self) {
        let said = self.said();
        assert_eq!(shell_status(&self.output), 7, "{said}");
        assert_eq!(shell_status(&plain.output), 7, "{}", plain.said());
        assert_eq!(self.printed(), plain.printed(), "{said}");
        let runs = fs_err::read_to_string(self.folder.join("runs")).unwrap();
        assert_eq!(runs, "run\n");
        let mut left: Vec<String> = fs_err::read_dir(&self.folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        left.sort();
        assert_eq!(left, [".kernrec", "runs"]);
    }

    /// The variables it had and a plain job had not, or with another value.
    fn added(&self, plain: &Self) -> Vec<String> {
        let (ours, theirs) = (self.environment(), plain.environment());
        ours.difference(&theirs).cloned().collect()
    }
}

const STYLES: [Style; 2] = [Style::Run, Style::Shell];

fn is_recorded(image: &Image, set: &[(&str, String)], note: Option<&str>) {
    let plain = image.job(Style::Plain, set);
    for style in STYLES {
        let job = image.job(style, set);
        job.went_as(&plain);
        assert_eq!(job.said(), plain.said(), "{:?} {style:?}", image.place);
        let set_up = kernrec_setup::variables::SET;
        for line in job.added(&plain) {
            let is_ours = set_up
                .iter()
                .any(|ours| line.starts_with(&format!("export {}=", ours.name)));
            assert!(is_ours, "{line}");
        }
        let bundle = job.bundle();
        let sidecar = &bundle.sidecar;
        assert_eq!(sidecar.collection_available, Some(true), "{sidecar:?}");
        assert_eq!(sidecar.collection_error, None);
        assert_eq!(
            (sidecar.exit_status, sidecar.unrecorded_processes),
            (Some(7), 0)
        );
        for part in [
            "\"rocm\": \"7.14.0\"",
            "\"VLLM_WORKER_MULTIPROC_METHOD\": \"spawn\"",
        ] {
            assert!(bundle.sidecar_text.contains(part), "{part}");
        }
        let notes = note.map_or(0, |note| bundle.sidecar_text.matches(note).count());
        assert_eq!(
            notes,
            usize::from(note.is_some()),
            "{}",
            bundle.sidecar_text
        );
        assert_eq!(bundle.recordings.len(), 1);
        let recording = &bundle.recordings[0];
        assert_eq!(recording.state, ProcessState::Clean, "{}", recording.text);
        assert_eq!(recording.names.len(), 5, "{}", recording.text);
    }
}

fn is_unrecorded(image: &Image, set: &[(&str, String)], word: &str, styles: &[Style]) {
    let plain = image.job(Style::Plain, set);
    for &style in styles {
        let job = image.job(style, set);
        job.went_as(&plain);
        let said = job.said();
        let (ours, theirs) = said.split_once('\n').unwrap_or_default();
        assert!(ours.starts_with(&format!("kernrec: {word}: ")), "{said}");
        assert_eq!(theirs, plain.said());
        let added = job.added(&plain);
        match style {
            // So that `finish` finds the job.
            Style::Shell => assert!(
                added.len() == 1 && added[0].starts_with("export KERNREC_SESSION="),
                "{added:?}"
            ),
            Style::Plain | Style::Run => assert_eq!(added, Vec::<String>::new()),
        }
        let bundle = job.bundle();
        let sidecar = &bundle.sidecar;
        assert_eq!(sidecar.collection_available, Some(false));
        assert_eq!(sidecar.exit_status, Some(7));
        let error = sidecar.collection_error.as_deref().unwrap();
        assert!(error.starts_with(&format!("{word}: ")), "{error}");
        assert!(bundle.sidecar_text.contains("\"rocm\": \"7.14.0\""));
        assert!(!bundle.sidecar_text.contains("\"spawn\""));
        assert!(bundle.recordings.is_empty());
    }
}

fn owned(name: &'static str, value: impl Into<String>) -> (&'static str, String) {
    (name, value.into())
}

#[test]
fn a_job_is_recorded_with_nothing_but_the_image() {
    for place in places() {
        let image = Image::new(place);
        is_recorded(&image, &[], None);
        // What set-up finds there already stays.
        image.copy(
            &library("libkernrec_cupti_forwarders.so"),
            "opt/theirs/lib.so",
        );
        let theirs = image.inside("/opt/theirs/lib.so");
        is_recorded(&image, &[owned("LD_PRELOAD", theirs)], None);
    }
}

/// A sanitizer's library must come first; the runtime then loads the SDK by itself.
#[test]
fn a_job_with_a_sanitizer_is_recorded_without_a_preload() {
    for place in places() {
        let image = Image::new(place);
        let note = Some("no-preload-sanitizer: ");
        is_recorded(&image, &[owned("ASAN_OPTIONS", "detect_leaks=0")], note);
        image.copy(
            &library("libkernrec_cupti_forwarders.so"),
            "opt/theirs/libasan.so.8",
        );
        let preload = owned("LD_PRELOAD", image.inside("/opt/theirs/libasan.so.8"));
        is_recorded(&image, &[preload], note);
    }
}

#[test]
fn an_image_without_what_is_needed_costs_the_recording_only() {
    for place in places() {
        let image = Image::new(place);
        fs_err::remove_file(image.outside(RECORDER)).unwrap();
        is_unrecorded(&image, &[], "recorder-missing", &STYLES);
        let image = Image::new(place);
        let sdk = image.outside(SDK);
        fs_err::write(&sdk, "not a library").unwrap();
        is_unrecorded(&image, &[], "rocprofiler-sdk-not-usable", &STYLES);
        fs_err::remove_file(&sdk).unwrap();
        is_unrecorded(&image, &[], "rocprofiler-sdk-missing", &STYLES);
    }
}

#[test]
fn an_sdk_that_is_not_the_one_costs_the_recording_only() {
    for place in places() {
        let image = Image::new(place);
        let job = image.job(Style::Run, &[owned("FAKE_ROCPROFILER", "version=10303")]);
        let sidecar = job.bundle().sidecar_text;
        assert!(
            sidecar.contains("\"rocprofiler-sdk\": \"1.3.3\""),
            "{sidecar}"
        );
        for (knob, word) in [
            ("version=10303", "rocprofiler-sdk-version"),
            ("version=10302000", "rocprofiler-sdk-version"),
            ("crash-version=1", "rocprofiler-sdk-not-usable"),
        ] {
            is_unrecorded(&image, &[owned("FAKE_ROCPROFILER", knob)], word, &STYLES);
        }
    }
}

/// Set-up waits for as long as it may, and no longer.
#[test]
fn an_sdk_that_hangs_costs_the_recording_only() {
    for (place, style) in places().into_iter().zip(STYLES) {
        let image = Image::new(place);
        let hang = owned("FAKE_ROCPROFILER", "hang-version=1");
        is_unrecorded(&image, &[hang], "rocprofiler-sdk-not-usable", &[style]);
    }
}

#[test]
fn what_the_job_has_decided_for_itself_is_left_to_it() {
    for place in places() {
        let image = Image::new(place);
        // A tool that works: the recorder, which without its folder's variable does nothing.
        image.copy(
            &library("libkernrec_rocprofiler.so"),
            "opt/theirs/libtool.so",
        );
        let tool = image.inside("/opt/theirs/libtool.so");
        let sdk = owned("ROCPROFILER_REGISTER_LIBRARY", image.inside(SDK));
        for (set, word) in [
            (
                vec![owned("ROCP_TOOL_LIBRARIES", tool), sdk],
                "other-rocprofiler-tool-configured",
            ),
            (
                vec![owned("VLLM_WORKER_MULTIPROC_METHOD", "fork")],
                "rocm-needs-spawn-workers",
            ),
            (
                vec![owned("ROCPROFILER_REGISTER_ENABLED", "0")],
                "rocprofiler-register-off",
            ),
        ] {
            is_unrecorded(&image, &set, word, &STYLES);
        }
    }
}

/// Where crashes leave core files, the one of the process that asks the SDK must not lie in the job's folder.
#[test]
fn an_sdk_that_crashes_leaves_nothing_behind() {
    let image = Image::new(Place::Folder);
    let set = [owned("FAKE_ROCPROFILER", "crash-version=1")];
    let (mut command, folder) = image.command(Style::Run, &set);
    child::before_exec(&mut command, child::allow_core_files);
    let job = Job {
        output: command.output().unwrap(),
        folder,
    };
    job.went_as(&image.job(Style::Plain, &set));
}
