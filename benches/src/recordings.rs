//! A build's recordings, in the in-build layout.

use super::Random;
use fs_err as fs;
use std::collections::BTreeSet;
use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

/// How large a build is.
#[derive(Debug, Clone, Copy)]
pub struct Shape {
    /// Steps; each runs as one job.
    pub steps: usize,
    /// Recordings, spread evenly over the steps.
    pub recordings: usize,
    /// Distinct kernel names that occur.
    pub names: usize,
    /// Kernels of one recording: at least this many…
    pub least: usize,
    /// …and fewer than this.
    pub below: usize,
}

impl Shape {
    /// A nightly build of the size that was observed: 18,118 recordings of 234 steps, 10 to 29 names each.
    pub const NIGHTLY: Self = Self {
        steps: 234,
        recordings: 18_118,
        names: 750,
        least: 10,
        below: 30,
    };
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Written {
    /// Recording files.
    pub recordings: usize,
    /// Bytes of recordings and sidecars.
    pub bytes: usize,
}

/// The commit that every generated sidecar names.
pub const COMMIT: &str = "d99724f2b141fed9e1a9f402213506c081433465";

/// The distinct kernel names of the real recordings in `testdata/ggml-h200`, sorted.
pub fn real_names() -> io::Result<Vec<String>> {
    let recordings = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testdata/ggml-h200/recordings");
    let mut names = BTreeSet::new();
    for job in fs::read_dir(recordings)? {
        for file in fs::read_dir(job?.path())? {
            let path = file?.path();
            if path.extension().is_some_and(|extension| extension == "txt") {
                let text = fs::read_to_string(path)?;
                let launched = text.lines().filter(|line| !line.starts_with('#'));
                names.extend(launched.map(str::to_owned));
            }
        }
    }
    Ok(names.into_iter().collect())
}

/// Writes `<dir>/<job>/kern.<pid>.txt` and `kernrec.json` for a whole build. The same shape gives the same bytes.
pub fn generate(dir: &Path, shape: &Shape) -> io::Result<Written> {
    let real = real_names()?;
    // Spread over all sources, and renamed apart where the shape wants more than there are.
    let names: Vec<String> = (0..shape.names)
        .map(|n| {
            let name = &real[n * 7 % real.len()];
            let round = n / real.len();
            if round == 0 {
                name.clone()
            } else {
                format!("{name}_{round}")
            }
        })
        .collect();
    let mut random = Random::new(7);
    let mut written = Written::default();
    for step in 0..shape.steps {
        let folder = dir.join(format!("00000000-0000-4000-8000-{step:012}"));
        fs::create_dir_all(&folder)?;
        written.put(&folder.join("kernrec.json"), &sidecar(step))?;
        let of_step =
            (step + 1) * shape.recordings / shape.steps - step * shape.recordings / shape.steps;
        // The processes of one step repeat its kernels.
        let window = random.below(names.len());
        for n in 0..of_step {
            let pid = 1000 + n;
            let text = recording(pid, &names, window, shape, &mut random);
            written.put(&folder.join(format!("kern.{pid}.txt")), &text)?;
            written.recordings += 1;
        }
    }
    Ok(written)
}

impl Written {
    fn put(&mut self, path: &PathBuf, text: &str) -> io::Result<()> {
        self.bytes += text.len();
        fs::write(path, text)
    }
}

fn recording(
    pid: usize,
    names: &[String],
    window: usize,
    shape: &Shape,
    random: &mut Random,
) -> String {
    let count = shape.least + random.below(shape.below - shape.least);
    let mut chosen = BTreeSet::new();
    while chosen.len() < count.min(names.len()) {
        // Most from the step's own hundred, some from anywhere.
        let offset = if random.below(8) == 0 {
            names.len()
        } else {
            100.min(names.len())
        };
        chosen.insert((window + random.below(offset)) % names.len());
    }
    let mut text = format!(
        "# kernrec v1 backend=cuda recorder=cupti pid={pid} ppid=1 exe=/usr/bin/python3.12\n"
    );
    for index in &chosen {
        text.push_str(&names[*index]);
        text.push('\n');
    }
    let unique = chosen.len();
    let records = unique * 40;
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "# end records={records} unique={unique} dropped=0 errors=0 unresolved=0"
    );
    text
}

fn sidecar(step: usize) -> String {
    format!(
        r#"{{
  "step_key": "step-{step:03}",
  "label": "Step {step}",
  "job_id": "00000000-0000-4000-8000-{step:012}",
  "build": "1001",
  "commit": "{COMMIT}",
  "parallel_job": "",
  "parallel_job_count": "",
  "exit_status": 0,
  "host": "gpu-0",
  "backend": "cuda",
  "recorder": "cupti",
  "collection_available": true,
  "collection_error": null
}}
"#
    )
}
