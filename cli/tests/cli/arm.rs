//! `kernrec arm`.

use crate::context::{Context, Ran};

const PIPELINE: &str = "\
# remark
steps:
- label: \":docker: image\"
  key: image-build
  command: build
- label: Kernels
  key: kernels
  agents: {queue: gpu_1_queue}
  command: pytest
  plugins:
  - docker#v5.2.0: {image: x}
- key: amd-kernels
  agents: {queue: amd_mi325_1}
  command: run
  env: {VLLM_TEST_COMMANDS: pytest}
- wait
- {key: lint, label: \"lint \\e[2J\", command: lint}
";

fn arm(context: &Context, switches: &[(&str, &str)], pipeline: &[u8], args: &[&str]) -> Ran {
    let mut command = context.command();
    command.arg("arm").args(args).write_stdin(pipeline);
    for (name, value) in switches {
        command.env(name, value);
    }
    context.run(&mut command)
}

#[test]
fn without_a_switch_any_bytes_come_out_as_they_went_in() {
    let context = Context::new();
    for switches in [
        &[][..],
        &[("VLLM_CI_KERNREC", "0"), ("VLLM_CI_KERNREC_AMD", "")],
        &[("VLLM_CI_KERNREC", "true")],
    ] {
        for pipeline in [
            PIPELINE,
            "",
            "no: [pipeline",
            "{\"a\": 1, \"a\": 2}",
            "a: &x\r\n",
        ] {
            let ran = arm(&context, switches, pipeline.as_bytes(), &[]);
            assert_eq!(
                (ran.status, ran.stdout.as_str(), ran.stderr.as_str()),
                (0, pipeline, "")
            );
        }
    }
    // Not even text.
    let mut command = context.command();
    let output = command
        .arg("arm")
        .write_stdin(&b"\xff\x00"[..])
        .output()
        .unwrap();
    assert_eq!(output.stdout, b"\xff\x00");
}

#[test]
fn each_switch_arms_its_backend() {
    let context = Context::new();
    let file = context.write("pipeline.yaml", PIPELINE);
    let file = file.to_str().unwrap();
    let config = "[collect]\nstore = \"records\"\n";
    let config = context.write("ours.toml", config);
    let config = config.to_str().unwrap();
    for (switches, armed) in [
        (&[("VLLM_CI_KERNREC", "1")][..], [true, false]),
        (&[("VLLM_CI_KERNREC_AMD", "1")], [false, true]),
        (
            &[("VLLM_CI_KERNREC", "1"), ("VLLM_CI_KERNREC_AMD", "1")],
            [true, true],
        ),
    ] {
        let ran = arm(&context, switches, b"", &[file, "--config", config]);
        assert_eq!((ran.status, ran.stderr.as_str()), (0, ""));
        let collectors = ["key: kernrec-collect\n", "key: kernrec-collect-rocm\n"];
        assert_eq!(
            collectors.map(|text| ran.stdout.contains(text)),
            armed,
            "{ran}"
        );
        let said = [
            "--backend cuda --step 'kernels'",
            "--backend rocm --step 'amd-kernels'",
        ];
        assert_eq!(said.map(|text| ran.stdout.contains(text)), armed, "{ran}");
        let again = arm(&context, switches, ran.stdout.as_bytes(), &[]);
        assert_eq!(again.stdout, ran.stdout);
    }
}

#[test]
fn without_a_store_nobody_collects_and_that_is_said() {
    let context = Context::new();
    let on = [("VLLM_CI_KERNREC", "1"), ("VLLM_CI_KERNREC_AMD", "1")];
    let ran = arm(&context, &on, PIPELINE.as_bytes(), &[]);
    assert!(!ran.stdout.contains("kernrec-collect"), "{ran}");
    assert_eq!(
        ran.stderr,
        "kernrec-collect is not added: no-store\nkernrec-collect-rocm is not added: no-store\n"
    );
}

#[test]
fn the_collectors_run_where_the_branch_says() {
    let context = Context::new();
    context.write("kernrec.toml", "[collect]\nstore = \"records\"\n");
    for (branch, queue) in [("main", "postmerge"), ("topic", "premerge")] {
        let on = [("VLLM_CI_KERNREC", "1"), ("BUILDKITE_BRANCH", branch)];
        let ran = arm(&context, &on, PIPELINE.as_bytes(), &[]);
        let queue = format!("queue: small_cpu_queue_{queue}\n");
        assert!(ran.stdout.contains(&queue), "{ran}");
    }
    for (variable, value, queue) in [
        ("BUILDKITE_PULL_REQUEST", "7", "premerge"),
        ("BUILDKITE_PULL_REQUEST", "false", "postmerge"),
        ("BUILDKITE_PULL_REQUEST", "", "postmerge"),
        ("GITHUB_EVENT_NAME", "pull_request", "premerge"),
    ] {
        let on = [
            ("VLLM_CI_KERNREC", "1"),
            ("BUILDKITE_BRANCH", "main"),
            (variable, value),
        ];
        let ran = arm(&context, &on, PIPELINE.as_bytes(), &[]);
        let queue = format!("queue: small_cpu_queue_{queue}\n");
        assert!(ran.stdout.contains(&queue), "{variable}={value}: {ran}");
    }
    // A branch that is no text is none to publish, and no reason not to arm.
    let mut command = context.command();
    let bad = std::os::unix::ffi::OsStrExt::from_bytes(&b"\xff"[..]);
    let bad: &std::ffi::OsStr = bad;
    command
        .arg("arm")
        .write_stdin(PIPELINE)
        .env("VLLM_CI_KERNREC", "1")
        .env("BUILDKITE_BRANCH", bad);
    let ran = context.run(&mut command);
    assert!(
        ran.stdout.contains("queue: small_cpu_queue_premerge\n"),
        "{ran}"
    );
}

#[test]
fn what_was_decided_is_explained() {
    let context = Context::new();
    let ran = arm(
        &context,
        &[("VLLM_CI_KERNREC", "1")],
        PIPELINE.as_bytes(),
        &["--explain"],
    );
    insta::assert_snapshot!("arm_explain", ran);
    let late = "- {block: Go?}\n- {key: late, agents: {queue: gpu_1}, command: x}\n";
    let config = "host-steps = true\n[collect]\nstore = \"records\"\n";
    let config = context.write("ours.toml", config);
    let ran = arm(
        &context,
        &[("VLLM_CI_KERNREC", "1"), ("VLLM_CI_KERNREC_AMD", "1")],
        format!("{PIPELINE}{late}").as_bytes(),
        &["--explain", "--config", config.to_str().unwrap()],
    );
    insta::assert_snapshot!("arm_explain_collectors", ran);
    let ran = arm(&context, &[], PIPELINE.as_bytes(), &["--explain"]);
    assert!(
        ran.stdout
            .contains("0 of 5 steps are armed, for no backend"),
        "{ran}"
    );
}

#[test]
fn what_is_not_understood_fails_with_nothing_on_stdout_or_is_passed_on() {
    let context = Context::new();
    let on = [("VLLM_CI_KERNREC", "1")];
    let duplicate = "steps:\n- key: a\n  key: b\n";
    let ran = arm(&context, &on, duplicate.as_bytes(), &[]);
    insta::assert_snapshot!("arm_refused", ran);
    let ran = arm(
        &context,
        &on,
        duplicate.as_bytes(),
        &["--on-error", "passthrough"],
    );
    insta::assert_snapshot!("arm_passed_on", ran);
    let config = context.write("kernrec.toml", "[cuda]\nswitch = 1\n");
    for args in [&[][..], &["--config", config.to_str().unwrap()]] {
        let ran = arm(&context, &[], PIPELINE.as_bytes(), args);
        assert_eq!((ran.status, ran.stdout.as_str()), (2, ""), "{ran}");
    }
    let ran = arm(
        &context,
        &[],
        PIPELINE.as_bytes(),
        &["--on-error", "passthrough"],
    );
    assert_eq!((ran.status, ran.stdout.as_str()), (0, PIPELINE), "{ran}");
    let ran = arm(
        &context,
        &on,
        b"",
        &["absent.yaml", "--on-error", "passthrough"],
    );
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
    let ran = arm(&context, &on, b"", &["--config", "absent.toml"]);
    assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
}

#[test]
fn the_configuration_of_the_folder_is_read() {
    let context = Context::new();
    context.write("kernrec.toml", "[cuda]\nswitch = \"OURS\"\n");
    let ran = arm(
        &context,
        &[("VLLM_CI_KERNREC", "1")],
        PIPELINE.as_bytes(),
        &[],
    );
    assert_eq!(ran.stdout, PIPELINE);
    let ran = arm(&context, &[("OURS", "1")], PIPELINE.as_bytes(), &[]);
    assert!(ran.stdout.contains("kernrec-arm/1"), "{ran}");
}
