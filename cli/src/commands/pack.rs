//! `kernrec pack`: job folders to bundles.

use crate::args::pack::PackArgs;
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::summary::{Section, Summary, counted, text, texts};
use kernrec_schemas::exit::Exit;
use kernrec_store::bundle::{
    self, BundleError, Found, JobFolder, PackOptions, PackedBundle, job_folders,
};
use rayon::prelude::*;

pub(crate) fn run(args: &PackArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let found = find(args)?;
    let options = PackOptions {
        include_logs: args.logs,
    };
    let results: Vec<Result<PackedBundle, BundleError>> = found
        .jobs
        .par_iter()
        .map(|job| bundle::pack(job, &args.out, &options))
        .collect();
    let mut packed = Vec::with_capacity(results.len());
    let mut failed = Vec::new();
    for (job, result) in found.jobs.iter().zip(results) {
        match result {
            Ok(bundle) => packed.push((job, bundle)),
            Err(error) => failed.push((job, error)),
        }
    }
    for (job, error) in &failed {
        shell.note(format_args!("error: job `{}`: {error}", job.meta.job_id));
    }
    let summary = summary(args, &found, &packed, &failed);
    shell.summary(&summary, Form::of_flag(args.json))?;
    Ok(if failed.is_empty() {
        Exit::Done
    } else {
        Exit::Failed
    })
}

/// Every job below the named folders; a folder without any is a mistake, and nothing is written.
fn find(args: &PackArgs) -> Result<Found, CommandError> {
    let mut all = Found::default();
    for dir in &args.dirs {
        let found = job_folders(dir)?;
        if found.jobs.is_empty() {
            let problem = format!("`{}` holds no job folder", dir.display());
            let error = CommandError::failed("no-job-folder", problem);
            let hint = "a job folder has a kernrec.json, kern.*.txt, fnrec.json or fn.*.txt in it";
            return Err(error.hint(hint));
        }
        all.jobs.extend(found.jobs);
        all.bundles.extend(found.bundles);
        all.empty.extend(found.empty);
    }
    all.jobs.sort_unstable_by(|a, b| a.path.cmp(&b.path));
    all.jobs.dedup_by(|a, b| a.path == b.path);
    Ok(all)
}

fn summary(
    args: &PackArgs,
    found: &Found,
    packed: &[(&JobFolder, PackedBundle)],
    failed: &[(&JobFolder, BundleError)],
) -> Summary {
    let mut summary = Summary::new("pack", format!("packed {}", counted(packed.len(), "job")));
    summary.fact("out", text(args.out.display()));
    let size: u64 = packed.iter().map(|(_, bundle)| bundle.size).sum();
    summary.fact("uncompressed_bytes", size);
    if !found.empty.is_empty() {
        summary.fact(
            "empty_folders",
            texts(found.empty.iter().map(|path| path.display())),
        );
    }
    if !found.bundles.is_empty() {
        summary.fact("bundles_left_alone", found.bundles.len());
    }
    let columns = &["job", "step", "digest", "size", "path"];
    let mut bundles = Section::new("bundles", "bundles", columns, 0);
    for (job, bundle) in packed {
        let step = job.meta.step_key.as_ref().map(text).into();
        let (digest, path) = (text(bundle.digest), text(bundle.path.display()));
        bundles.row([
            text(&job.meta.job_id),
            step,
            digest,
            bundle.size.into(),
            path,
        ]);
    }
    summary.section(bundles);
    let columns = &["job", "reason", "problem"];
    let mut failures = Section::new("failed", "not packed", columns, usize::MAX);
    for (job, error) in failed {
        failures.row([text(&job.meta.job_id), text(error.reason()), text(error)]);
    }
    summary.section(failures);
    summary
}
