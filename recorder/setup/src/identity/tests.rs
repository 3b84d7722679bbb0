use super::*;

fn buildkite() -> Environment {
    Environment::default()
        .with("BUILDKITE_STEP_KEY", "kernels-moe")
        .with("BUILDKITE_LABEL", "Kernels \"moe\"\nsecond line")
        .with("BUILDKITE_JOB_ID", "0190-ab")
        .with("BUILDKITE_BUILD_NUMBER", "41")
        .with("BUILDKITE_COMMIT", "c0ffee")
        .with("BUILDKITE_PARALLEL_JOB", "1")
        .with("BUILDKITE_PARALLEL_JOB_COUNT", "4")
        .with("BUILDKITE_RETRY_COUNT", "2")
        .with("KERNREC_VARIANT", "cu13")
}

#[test]
fn buildkite_names_everything() {
    let (resolved, fault) = Identity::default().resolve(&buildkite());
    assert!(fault.is_none());
    assert_eq!(resolved.step_key, "kernels-moe");
    assert_eq!(resolved.label, "Kernels \"moe\"\nsecond line");
    assert_eq!(resolved.job_id, "0190-ab");
    assert_eq!((&*resolved.build, &*resolved.commit), ("41", "c0ffee"));
    assert_eq!((&*resolved.shard, &*resolved.shard_count), ("1", "4"));
    assert_eq!((&*resolved.retry_count, &*resolved.variant), ("2", "cu13"));
}

#[test]
fn flags_beat_the_environment_and_empty_ones_do_not() {
    let flags = Identity {
        step_key: Some("mine".to_owned()),
        commit: Some(String::new()),
        ..Identity::default()
    };
    let (resolved, _) = flags.resolve(&buildkite());
    assert_eq!((&*resolved.step_key, &*resolved.commit), ("mine", "c0ffee"));
}

#[test]
fn github_counts_attempts_from_one_and_its_jobs_need_the_shard() {
    let environment = Environment::default()
        .with("GITHUB_RUN_ID", "777")
        .with("GITHUB_RUN_NUMBER", "12")
        .with("GITHUB_RUN_ATTEMPT", "2")
        .with("GITHUB_JOB", "gpu-tests")
        .with("GITHUB_SHA", "deadbeef");
    let flags = Identity {
        shard: Some("3".to_owned()),
        ..Identity::default()
    };
    let (resolved, fault) = flags.resolve(&environment);
    assert!(fault.is_none());
    assert_eq!(resolved.job_id, "777-2-gpu-tests-3");
    assert_eq!((&*resolved.build, &*resolved.retry_count), ("12", "1"));
    assert_eq!(
        (&*resolved.step_key, &*resolved.commit),
        ("gpu-tests", "deadbeef")
    );
}

#[test]
fn outside_ci_the_job_is_local() {
    let (resolved, fault) = Identity::default().resolve(&Environment::default());
    assert!(fault.is_none());
    assert_eq!(resolved.job_id, "local");
    assert!(resolved.is_local());
}

#[test]
fn what_no_sidecar_can_hold_is_left_out_and_said() {
    for (name, value, word) in [
        ("BUILDKITE_STEP_KEY", "a\nb", "step"),
        ("BUILDKITE_JOB_ID", "../up", "job-id"),
        ("BUILDKITE_PARALLEL_JOB", "one", "shard"),
        ("KERNREC_VARIANT", "a b", "variant"),
        ("BUILDKITE_COMMIT", "-x", "commit"),
    ] {
        let (resolved, fault) = Identity::default().resolve(&buildkite().with(name, value));
        let fault = fault.expect(name).to_string();
        assert!(fault.contains(word), "{fault}");
        assert!(!format!("{resolved:?}").contains(value), "{resolved:?}");
    }
}

#[test]
fn a_variable_that_is_no_text_is_not_passed_over() {
    use std::os::unix::ffi::OsStringExt as _;
    for (name, word) in [
        ("BUILDKITE_STEP_KEY", "step"),
        ("BUILDKITE_PARALLEL_JOB", "shard"),
        ("KERNREC_VARIANT", "variant"),
    ] {
        let value = std::ffi::OsString::from_vec(vec![b'a', 0xff]);
        let environment = buildkite().with("GITHUB_JOB", "other").with(name, value);
        let (resolved, fault) = Identity::default().resolve(&environment);
        let fault = fault.expect(name).to_string();
        assert!(fault.starts_with(word), "{fault}");
        assert!(!format!("{resolved:?}").contains("other"), "{resolved:?}");
    }
}
