//! `kernrec select`.

use super::fetch::duration;
use super::signing::InstalledKeyArgs;
use kernrec_git::DiffRange;
use kernrec_schemas::Backend;
use std::path::PathBuf;
use std::time::Duration;

/// Arguments of `select`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Exit status: 0 decided; 6 everything must run, and nothing is on stdout.")]
pub(crate) struct SelectArgs {
    /// What is printed
    #[arg(long, value_name = "FORMAT", value_enum, default_value_t = FormatArg::Text)]
    pub(crate) format: FormatArg,

    /// Also write the answer to a file, in the form text, json or markdown, even when everything must
    /// run; for example `markdown=comment.md`
    #[arg(long, value_name = "FORM=FILE")]
    pub(crate) write: Vec<WriteArg>,

    #[command(flatten)]
    pub(crate) inputs: InputArgs,
}

/// A form of the answer and the file that it is written to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct WriteArg {
    pub(crate) form: FileForm,
    pub(crate) path: PathBuf,
}

/// Forms that say by themselves when everything must run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileForm {
    Text,
    Json,
    Markdown,
}

impl std::str::FromStr for WriteArg {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (form, path) = text.split_once('=').unwrap_or((text, ""));
        let form = match form {
            "text" => FileForm::Text,
            "json" => FileForm::Json,
            "markdown" => FileForm::Markdown,
            _ => return Err("expected text=FILE, json=FILE or markdown=FILE".to_owned()),
        };
        if path.is_empty() {
            return Err("the file is missing: expected FORM=FILE".to_owned());
        }
        let path = path.into();
        Ok(Self { form, path })
    }
}

/// What is asked, and of which records.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("change").required(true).args(["diff", "changed_file"]))]
pub(crate) struct InputArgs {
    /// The folder a record was fetched to
    #[arg(long, value_name = "DIR", default_value = "coverage-data")]
    pub(crate) data: PathBuf,

    /// The change: `A...B`, what B changed since it left A, or `A..B`, all that differs between the
    /// two; a missing one is HEAD
    #[arg(long, value_name = "A...B")]
    pub(crate) diff: Option<DiffRange>,

    /// The git clone that the change is in
    #[arg(long, value_name = "DIR", default_value = ".")]
    pub(crate) repo: PathBuf,

    /// A changed file, relative to the source root; the answer is about its device code
    #[arg(long, value_name = "F")]
    pub(crate) changed_file: Vec<String>,

    #[command(flatten)]
    pub(crate) step_files: StepFileArgs,

    /// A backend whose record must be there: cuda, rocm or python; one that has a folder in the data
    /// always must
    #[arg(long, value_name = "BACKEND")]
    pub(crate) backend: Vec<Backend>,

    #[command(flatten)]
    pub(crate) placing: PlacingArgs,

    /// A record published longer ago than this may only add steps
    #[arg(long, value_name = "D", default_value = "14d", value_parser = duration)]
    pub(crate) max_age: Duration,

    #[command(flatten)]
    pub(crate) signing: InstalledKeyArgs,
}

/// The steps of the pipeline.
#[derive(Debug, clap::Args)]
pub(crate) struct StepFileArgs {
    /// The steps and which files propose each: a Buildkite pipeline, test areas, or JSON; given again,
    /// the steps of all. Without it every changed file proposes every step
    #[arg(long, value_name = "FILE")]
    pub(crate) steps: Vec<PathBuf>,

    /// Everything runs when a file with this prefix, or matching this glob, changed
    #[arg(long, value_name = "PATTERN", requires = "steps")]
    pub(crate) run_all_pattern: Vec<String>,
}

/// How closely changed files are looked into.
#[derive(Debug, clap::Args)]
pub(crate) struct PlacingArgs {
    /// What a changed file counts for: the kernels that its changed definitions can reach, host code included, or all of
    /// its kernels; needs a diff
    #[arg(long, value_name = "HOW", value_enum, default_value_t = AttributionArg::Kernel)]
    pub(crate) attribution: AttributionArg,

    /// All top-level packages that a distribution brings, for pins that change; a distribution that is not named may only
    /// select
    #[arg(long, value_name = "NAME=PACKAGE[,PACKAGE]")]
    pub(crate) library: Vec<String>,

    /// Which changed host code lets steps go that launched none of its kernels
    #[arg(long, value_name = "WHICH", value_enum, default_value_t = HostCodeArg::Certain)]
    pub(crate) host_code: HostCodeArg,
}

/// How closely a changed file is looked into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum AttributionArg {
    /// By its changed definitions
    Kernel,
    /// As a whole; the answer is about its device code
    File,
}

/// Changed host code that silence may clear.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum HostCodeArg {
    /// What launches a kernel whenever it runs
    Certain,
    /// Also what launches on some of its ways only; a step that took another way is missed
    Reach,
}

/// Forms of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum FormatArg {
    /// For people
    Text,
    /// One JSON document with every step and reason
    Json,
    /// One JSON array of the step keys that must run
    Keys,
    /// The pipeline of --steps with `skip` on the steps that may be skipped
    Buildkite,
    /// A summary and outputs of a GitHub Actions job: to $GITHUB_STEP_SUMMARY and $GITHUB_OUTPUT, or
    /// to stdout where one is not set
    Github,
    /// A comment on a pull request
    Markdown,
}
