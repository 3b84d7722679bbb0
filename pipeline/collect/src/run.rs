//! The whole: wait, gather, fold, publish, say so.

use crate::annotation;
use crate::ci::{Announcement, Ci, Gathered};
use crate::publish::{self, other_commit};
use crate::report::{CollectReport, Obstacle, Outcome, SCHEMA};
use crate::step::Step;
use crate::wait::{WaitOptions, Waited, wait};
use crate::workplace::{ANNOTATION, JOBS, RESULT, Workplace, WorkplaceError};
use kernrec_publish::publishing::SkippedBranch;
use kernrec_publish::{BundlePolicy, GateOptions};
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline, StepKey, Timestamp};
use kernrec_store::signing::Signing;
use kernrec_store::{Store, fsio, upstream};
use std::path::PathBuf;

/// The file of a table of functions.
const FUNCTION_TABLE: &str = "function_table.json.zst";

/// Opens the store, when it is needed: hours after the start.
pub(crate) type OpenStore<'a> = &'a dyn Fn() -> Result<Box<dyn Store>, Obstacle>;

/// What to collect, and what to make of it.
#[derive(Debug, Clone)]
pub struct Request {
    /// The backend.
    pub backend: Backend,
    /// The pipeline.
    pub pipeline: Pipeline,
    /// The commit.
    pub commit: Commit,
    /// The build to publish for.
    pub build: BuildNumber,
    /// Set when this branch does not publish.
    pub skipped: Option<SkippedBranch>,
    /// The build to collect from, if another.
    pub source_build: Option<String>,
    /// The armed steps.
    pub steps: Vec<Step>,
    /// The steps that build the backend's images.
    pub map_steps: Vec<StepKey>,
    /// How long to wait for both.
    pub wait: WaitOptions,
    /// The folder for everything that is left.
    pub out: PathBuf,
    /// `--recorded-at`, when given.
    pub recorded_at: Option<Timestamp>,
    /// The value of `SOURCE_DATE_EPOCH`, when set.
    pub source_date_epoch: Option<String>,
    /// Thresholds of the gates. The number of expected jobs is that of the steps.
    pub gates: GateOptions,
    /// A clone that holds the commit.
    pub repo: Option<PathBuf>,
    /// How the store is laid out.
    pub layout: StoreLayout,
    /// Whether bundles are stored.
    pub bundles: BundlePolicy,
    /// How the pointer is signed.
    pub signing: Signing,
    /// Do everything but write to the store.
    pub dry_run: bool,
}

/// What is going on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Progress {
    /// So many steps are not over.
    Waiting(usize),
    /// Downloading.
    Gathering,
    /// Folding and, perhaps, publishing.
    Publishing,
}

/// Collects. An error means that the folder for the result cannot be used; all else is in the report, which was
/// written to [`RESULT`] and [`ANNOTATION`] of that folder.
///
/// `open` is called when there is something to publish.
pub fn collect(
    ci: &dyn Ci,
    request: &Request,
    open: &dyn Fn() -> Result<Box<dyn Store>, Obstacle>,
    progress: &dyn Fn(Progress),
) -> Result<CollectReport, WorkplaceError> {
    let request = with_expected_jobs(request);
    let table = table_name(request.backend);
    let place = Workplace::take(&request.out, &table)?;
    let mut report = blank(&request);
    if !is_of_another_commit(ci, &request, &mut report) {
        let open_steps = |open| progress(Progress::Waiting(open));
        report.waited = wait(
            ci,
            &request.steps,
            &request.map_steps,
            &request.wait,
            &open_steps,
        );
        progress(Progress::Gathering);
        let mut gathered = ci.gather(&request.steps, &request.map_steps, &place);
        in_order(&mut gathered);
        report.bundles = gathered.bundles.len() as u64;
        report.raw_folders = gathered.raw_folders;
        report.ignored = gathered.ignored;
        report.lost.clone_from(&gathered.lost);
        progress(Progress::Publishing);
        publish::publish(&request, &gathered, &place, open, &mut report);
    }
    report.conclude();
    finish(ci, &place, &table, report)
}

/// What the table's file is called.
pub(crate) fn table_name(backend: Backend) -> String {
    if backend.has_kernels() {
        upstream::file_name(upstream::Half::Table, backend)
    } else {
        FUNCTION_TABLE.to_owned()
    }
}

fn with_expected_jobs(request: &Request) -> Request {
    let jobs: u64 = request.steps.iter().map(|step| step.jobs).sum();
    let mut request = request.clone();
    request.gates.expected_jobs = (jobs > 0).then_some(jobs);
    request
}

/// Asked before anything else: a build of another commit has nothing to wait for.
fn is_of_another_commit(ci: &dyn Ci, request: &Request, report: &mut CollectReport) -> bool {
    if request.source_build.is_none() {
        return false;
    }
    match ci.commit() {
        Ok(Some(commit)) if commit != request.commit => {
            let what = "the checkout";
            report
                .obstacles
                .push(other_commit(request, commit.as_str(), what));
            true
        }
        // Maps and recordings name their commit themselves.
        Ok(_) => false,
        Err(error) => {
            report
                .obstacles
                .push(Obstacle::failure(error.reason(), error.to_string()));
            true
        }
    }
}

/// Downloads end in any order.
fn in_order(gathered: &mut Gathered) {
    gathered.folders.sort_unstable();
    gathered.bundles.sort_unstable();
    gathered.maps.sort_unstable();
    gathered.lost.sort_unstable();
}

/// Writes the report, shows it, and writes it again if that did not work.
fn finish(
    ci: &dyn Ci,
    place: &Workplace,
    table: &str,
    mut report: CollectReport,
) -> Result<CollectReport, WorkplaceError> {
    write_result(place, &report)?;
    let text = annotation::text(&report);
    fsio::write_atomic(&place.path(ANNOTATION), text.as_bytes())?;
    let files = [table, RESULT, ANNOTATION, JOBS];
    let files = files.into_iter().filter(|name| place.path(name).is_file());
    let files: Vec<String> = files.map(str::to_owned).collect();
    report.announcing = ci.announce(&Announcement {
        context: &format!("kernrec-collect-{}", report.backend),
        style: report.style(),
        text: &text,
        folder: place.dir(),
        files: &files,
    });
    if !report.announcing.is_empty() {
        write_result(place, &report)?;
    }
    Ok(report)
}

fn write_result(place: &Workplace, report: &CollectReport) -> Result<(), WorkplaceError> {
    let path = place.path(RESULT);
    let mut bytes = serde_json::to_vec_pretty(report)
        .map_err(|error| fsio::FsError::on("write", &path)(error.into()))?;
    bytes.push(b'\n');
    Ok(fsio::write_atomic(&path, &bytes)?)
}

fn blank(request: &Request) -> CollectReport {
    CollectReport {
        schema: SCHEMA,
        backend: request.backend,
        pipeline: request.pipeline.clone(),
        commit: request.commit.clone(),
        build: request.build,
        source_build: request.source_build.clone(),
        outcome: Outcome::Failed,
        exit_status: Outcome::Failed.exit().code(),
        obstacles: Vec::new(),
        skipped: request.skipped.clone(),
        waited: Waited::default(),
        expected_jobs: request.gates.expected_jobs,
        short: Vec::new(),
        bundles: 0,
        raw_folders: 0,
        ignored: 0,
        lost: Vec::new(),
        maps: Vec::new(),
        unreadable_maps: Vec::new(),
        folded: None,
        changes: None,
        not_compared: None,
        publish: None,
        announcing: Vec::new(),
    }
}
