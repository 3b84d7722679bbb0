//! `kernrec audit`.

use crate::context::{Context, ggml};
use crate::documents;

#[test]
fn recordings_are_called_to_account_by_process() {
    let context = Context::new();
    insta::assert_snapshot!(
        "audit_recordings",
        context.kernrec(["audit", &ggml("recordings")])
    );
}

#[test]
fn a_table_knows_steps_only() {
    let context = Context::new();
    context.write("table", documents::TABLE);
    insta::assert_snapshot!("audit_table", context.kernrec(["audit", "table"]));
}

#[test]
fn a_bundle_is_audited_like_its_folder() {
    let context = Context::new();
    let killed = ggml("recordings/1955c300-b9c4-5bf3-a72d-32c04fe40966");
    context.kernrec(["pack", &killed, "--out", "bundles"]);
    let bundle = fs_err::read_dir(context.path("bundles"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let packed = context.kernrec(["audit", bundle.to_str().unwrap(), "--json"]);
    let folder = context.kernrec(["audit", &killed, "--json"]);
    assert_eq!((packed.status, packed.stdout), (0, folder.stdout));
}

#[test]
fn bad_input() {
    let context = Context::new();
    fs_err::create_dir(context.path("empty")).unwrap();
    context.write("map", documents::MAP);
    for (name, input) in [("empty", "empty"), ("absent", "absent"), ("map", "map")] {
        let ran = context.kernrec(["audit", input]);
        assert_eq!((ran.status, ran.stdout.as_str()), (1, ""), "{ran}");
        insta::assert_snapshot!(format!("audit_bad_{name}"), ran.stderr);
    }
}
