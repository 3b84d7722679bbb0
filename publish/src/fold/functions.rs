//! The function table: what Python entered, step by step.

use super::filing::Filed;
use super::row::{deciding, is_complete, names, reasons, shards};
use super::table::source;
use super::{Filing, FoldOptions};
use crate::collect::Collected;
use kernrec_schemas::function_recording::{JobFacts, thin_reasons};
use kernrec_schemas::function_table::{FunctionRow, FunctionTable, LibraryName};
use kernrec_schemas::table::RowReason;
use kernrec_schemas::{JobId, StepKey};
use std::collections::BTreeSet;

/// Folds what Python left of all jobs into the function table.
///
/// Filing, attempts, shards and the reasons of jobs are those of kernels. A step in which Python was recorded nowhere has
/// no row; one in which it was not recorded in every job has a thin one.
pub fn fold_functions(collected: &Collected, options: &FoldOptions) -> FunctionTable {
    let filing = Filing::new(collected, options);
    let jobs = collected.jobs_of(options.backend);
    let libraries: BTreeSet<&LibraryName> = jobs.iter().flat_map(|job| &job.libraries).collect();
    let libraries: Vec<LibraryName> = libraries.into_iter().cloned().collect();
    let fold = Fold {
        collected,
        filing: &filing,
        libraries: &libraries,
        options,
    };
    let rows = filing
        .of_backend(options)
        .map(|(step, jobs)| (step.clone(), fold.row(step, &jobs)))
        .collect();
    FunctionTable {
        source: source(options),
        functions: collected.functions().to_vec(),
        libraries,
        rows,
        faults: Vec::new(),
    }
}

struct Fold<'a> {
    collected: &'a Collected,
    filing: &'a Filing<'a>,
    /// Sorted.
    libraries: &'a [LibraryName],
    options: &'a FoldOptions,
}

impl Fold<'_> {
    fn row(&self, step: &StepKey, jobs: &[Filed<'_>]) -> FunctionRow {
        let deciding = deciding(jobs, self.options);
        let shards = shards(jobs);
        let complete = is_complete(jobs, shards);
        let facts: Vec<JobFacts> = deciding.iter().map(|d| d.job.facts.clone()).collect();
        let mut reasons = reasons(self.filing, step, jobs, &deciding, self.options);
        reasons.extend(thin_reasons(&facts, complete));
        reasons.extend(
            self.is_half_recorded(step, jobs)
                .then_some(RowReason::NoRecording),
        );
        let mut total = JobFacts::default();
        for one in &facts {
            total.merge(one);
        }
        let commits = jobs.iter().filter_map(|filed| filed.job.commit().cloned());
        FunctionRow {
            jobs: jobs.len() as u64,
            passed: !reasons.contains(&RowReason::NotPassed),
            complete,
            shards,
            processes: jobs
                .iter()
                .map(|filed| filed.job.processes.len() as u64)
                .sum(),
            clean_exits: total.clean_exits,
            lost_lines: total.lossy,
            functions: names(self.collected.functions().len(), jobs),
            libraries: self.numbers(jobs),
            tests: total.tests,
            health: total.processes,
            interpreters: total.interpreters,
            commits: commits.collect(),
            reasons,
        }
    }

    /// Whether kernels were recorded in a job of the step in which Python was not.
    fn is_half_recorded(&self, step: &StepKey, jobs: &[Filed<'_>]) -> bool {
        let recorded: BTreeSet<&JobId> = jobs.iter().map(|filed| &filed.job.id).collect();
        let of_kernels = self.collected.jobs().iter();
        let mut of_step = of_kernels.filter(|job| job.step.iter().any(|named| named == step));
        of_step.any(|job| !recorded.contains(&job.id))
    }

    fn numbers(&self, jobs: &[Filed<'_>]) -> Vec<u32> {
        let used: BTreeSet<&LibraryName> = jobs.iter().flat_map(|f| &f.job.libraries).collect();
        let number = |library: &&LibraryName| self.libraries.binary_search(library).ok();
        let numbers = used.iter().filter_map(number);
        numbers.filter_map(|at| u32::try_from(at).ok()).collect()
    }
}
