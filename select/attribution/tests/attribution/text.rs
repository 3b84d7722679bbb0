//! What is no change, and what looks like less of one than it is.

use crate::project::{Project, check};

const SOURCE: &str = r#"// A file.
#include "body.inc"
#define FLAG 1
#define ROWS 4

__device__ float helper(float v) { return v; }  // helps

__global__ void first(float *p) { *p = helper(*p); }

#if FLAG
__device__ float flagged(float v) { return v; }
#else
__device__ float flagged(float v) { return -v; }
#endif

__global__ void second(float *p) {
#if ROWS > 2
  *p = flagged(*p);
#else
  *p = 0;
#endif
}

__global__ void third(float *p) {
  const char *text = "first(p); // no comment";
  *p = text[0];
}

void launch(float *p) { first<<<1, 1>>>(p); }
"#;

fn project() -> Project {
    Project::one(SOURCE, "first second third")
}

#[test]
fn comments_and_white_space_are_no_change() {
    check(&project(), INERT_EDITS);
}

#[test]
fn conditions_are_followed() {
    check(&project(), CONDITION_EDITS);
}

#[test]
fn moved_code_changes_what_moved() {
    let helper = "__device__ float helper(float v) { return v; }  // helps\n";
    let found = project()
        .edit("a.cu", helper, "")
        .edit("a.cu", "void launch", &format!("{helper}void launch"))
        .attribute("a.cu");
    assert_eq!(
        (found.kernels.as_str(), found.class.as_str()),
        ("first", "drop")
    );
}

#[test]
fn a_body_in_another_file_is_part_of_the_kernel() {
    let source = "#include \"h.cuh\"\n__global__ void first(float *p) {\n#include \"body.inc\"\n}\n__global__ void second(float *p) { *p = 1; }\n";
    let project = Project::default()
        .file("a.cu", source)
        .file("h.cuh", "__device__ float helper(float v) { return v; }\n")
        .file("body.inc", "*p = helper(*p);\n")
        .object("a.cu h.cuh body.inc", "first second");
    let found = project
        .clone()
        .edit("h.cuh", "return v;", "return -v;")
        .attribute("h.cuh");
    assert_eq!(
        (found.kernels.as_str(), found.word.as_str()),
        // Read by itself, the body is no definition.
        ("first second", "used-by-unknown-code")
    );
    let found = project
        .edit("body.inc", "*p = ", "*p = 1 + ")
        .attribute("body.inc");
    assert_eq!(
        (found.kernels.as_str(), found.class.as_str()),
        ("first second", "unplaced-host-code")
    );
}

const INERT_EDITS: &str = r"a comment
- // A file.
+ // The file.
= first second third; drop; no-code-changed

a comment behind code
- // helps
+ /* helps */
= first second third; drop; no-code-changed

a blank line
- // A file.\n
+ // A file.\n\n\n
= first second third; drop; no-code-changed

white space
- { *p = helper(*p); }
+ {\n  *p   =  helper( *p ) ;\n}
= first second third; drop; no-code-changed

a comment beside a change
- { return v; }  // helps
+ { return -v; }  // helped
= first; drop

a space that splits an operator
- { *p = helper(*p); }
+ { *p = helper(*p); *p > > 1; }
= first; drop

a string
- first(p); // no
+ second(p); // no
= third; drop
";

const CONDITION_EDITS: &str = r"a macro that a condition reads
- FLAG 1
+ FLAG 0
= second; drop

a macro that a condition inside a kernel reads
- ROWS 4
+ ROWS 1
= second; drop

one of two definitions
- return -v;
+ return 1 - v;
= second; drop

a condition
- #if FLAG
+ #if !FLAG
= first second third; drop; preprocessor-line

a condition inside a kernel
- #if ROWS > 2
+ #if ROWS > 3
= second; drop

code commented out
- void launch
+ /* void launch2(); */ void launch
= first second third; drop; no-code-changed

a comment that swallows code
- __global__ void third(float *p) {
+ /* __global__ void third(float *p) { */ __global__ void third(float *q, float *p) {
= third; drop
";
