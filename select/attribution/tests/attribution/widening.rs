//! What cannot be placed counts for the whole file, and for what its host code can launch.

use crate::project::{Project, check};
use kernrec_attribution::ChangedFile;

const SOURCE: &str = r#"
#include "made.h"
#define MAKE_KERNEL(name) __global__ void name##_made(float *p) { *p = helper(*p); }
#define STEP 2

namespace one {

__device__ float helper(float v) { return v; }
__device__ float unrelated(float v) { return v; }
__device__ float2 operator+(float2 a, float2 b) { return a; }

MAKE_KERNEL(scale)

ODD_MACRO(words that, mean nothing)
__global__ void plain(float *p) { *p = unrelated(*p); }

}  // namespace one

using one::plain;
static_assert(STEP > 1, "small");

__global__ void added(float2 *p) { *p = *p + *p; }

void launch(float *p) { plain<<<1, 1>>>(p); far_launch(p); }
"#;

fn project() -> Project {
    Project::default()
        .file("a.cu", SOURCE)
        .file("made.h", "void far_launch(float *p);\n")
        .file("b.cu", "#include \"made.h\"\n__global__ void far(float *p) { *p = 1; }\nvoid far_launch(float *p) { far<<<1, 1>>>(p); }\n")
        .object("a.cu made.h", "scale_made plain added")
        .object("b.cu made.h", "far")
}

const ALL: &str = "added far plain scale_made";
const UNPLACED: &str = "unplaced-host-code";

#[test]
fn what_cannot_be_placed_widens_to_the_file_and_the_reach_of_its_host_code() {
    check(&project(), WIDENING_EDITS);
}

#[test]
fn sources_that_cannot_be_compared_widen() {
    let all = |found: crate::project::Found| (found.kernels, found.class, found.word);
    let expected = |word: &str| (ALL.to_owned(), UNPLACED.to_owned(), word.to_owned());
    let text = |extra: &[u8]| Some([SOURCE.as_bytes(), extra].concat());
    let heads: &[(&str, Option<Vec<u8>>)] = &[
        ("not-on-both-sides", None),
        ("unclear-structure", text(b"}\n")),
        ("unclear-structure", text(b"/* open\n")),
        (
            "unclear-structure",
            text(b"#if A\nvoid f() {\n#else\nvoid f(int) { {\n#endif\n}\n"),
        ),
        ("odd-text", text(b"\0")),
        ("odd-text", text(b"int a<:4:>;\n")),
        ("odd-text", text(b"int a;\rint b;\n")),
        ("odd-text", text(b"in\\\nt a;\n")),
        ("too-large", text(&vec![b' '; 5 << 20])),
    ];
    for (word, head) in heads {
        let gone = head.is_none();
        let project = project().set_head("a.cu", head.clone());
        let change = ChangedFile {
            base: Some("a.cu".to_owned()),
            head: (!gone).then(|| "a.cu".to_owned()),
        };
        assert_eq!(all(project.attribute_as(&change)), expected(word), "{word}");
    }
    let renamed = ChangedFile {
        base: Some("a.cu".to_owned()),
        head: Some("c.cu".to_owned()),
    };
    let project = project().set_head("a.cu", None).set_head("c.cu", text(b""));
    assert_eq!(
        all(project.attribute_as(&renamed)),
        expected("not-on-both-sides")
    );
}

#[test]
fn a_file_that_is_no_source_widens() {
    let project = Project::one("__global__ void k(float *p) { *p = TABLE; }\n", "")
        .file("table.txt", "1 2 3\n")
        .object("a.cu table.txt", "k")
        .edit("table.txt", "1 2", "1 4");
    let found = project.attribute("table.txt");
    assert_eq!(
        (
            found.kernels.as_str(),
            found.class.as_str(),
            found.word.as_str()
        ),
        ("k", UNPLACED, "not-a-source")
    );
}

#[test]
fn a_file_that_cannot_be_read_may_use_anything() {
    let project = Project::default()
        .file("a.cu", "#include \"h.cuh\"\n__global__ void one(float *p) { *p = 1; }\n")
        .file("h.cuh", "__device__ float helper(float v) { return v; }\n__global__ void two(float *p) { *p = 2; }\n")
        .file("gen.cuh", "")
        .object("a.cu h.cuh gen.cuh", "one two")
        .remove("gen.cuh");
    let found = project
        .clone()
        .edit("h.cuh", "return v;", "return -v;")
        .attribute("h.cuh");
    assert_eq!(
        (found.kernels.as_str(), found.class.as_str()),
        ("one two", "drop")
    );
    let found = project
        .edit("h.cuh", "*p = 2;", "*p = 3;")
        .attribute("h.cuh");
    assert_eq!(
        (found.kernels.as_str(), found.class.as_str()),
        ("two", "drop")
    );
}

#[test]
fn kernels_that_a_hidden_word_makes_are_found_by_the_map() {
    let source = "#include \"marks.h\"\n\
        __device__ float helper(float v) { return v; }\n\
        KERNEL masked(float *p) { *p = helper(*p); }\n\
        WORD odd(float *p) { *p = 1; }\n\
        __global__ void open(float *p) { *p = 2; }\n";
    let known = Project::default()
        .file("a.cu", source)
        .file("marks.h", "#define KERNEL __global__ void\n")
        .object("a.cu marks.h", "masked odd open");
    let found = known
        .clone()
        .edit("a.cu", "return v;", "return -v;")
        .attribute("a.cu");
    assert_eq!(
        (found.kernels.as_str(), found.class.as_str()),
        ("masked", "drop")
    );
    // Where the word stands is not known: the function may be anything, and its name is a kernel's.
    let found = known
        .edit("a.cu", "{ *p = 1; }", "{ *p = 3; }")
        .attribute("a.cu");
    assert_eq!(found.kernels, "odd");
    assert_ne!(found.class, "drop");
}

const WIDENING_EDITS: &str = r#"a namespace
- namespace one {\n\n__device__
+ namespace two {\n\n__device__
= added far plain scale_made; reach-not-closed unplaced-host-code; scope-line

a using
- using one::plain;
+ using namespace one;
= added far plain scale_made; unplaced-host-code; scope-line

an include
- #include "made.h"\n
+ #include "made.h"\n#include <cuda_fp16.h>\n
= added far plain scale_made; unplaced-host-code; preprocessor-line

a pragma
- #define STEP 2
+ #pragma once\n#define STEP 2
= added far plain scale_made; unplaced-host-code; preprocessor-line

a macro between definitions
- ODD_MACRO(words that, mean nothing)
+ ODD_MACRO(words that, mean much)
= added far plain scale_made; unplaced-host-code; unknown-definition

a helper that a macro-made kernel uses
- helper(float v) { return v; }
+ helper(float v) { return -v; }
= added plain scale_made; drop; used-by-unknown-code

a helper that another definition uses, behind an odd macro
- unrelated(float v) { return v; }
+ unrelated(float v) { return -v; }
= added plain scale_made; drop; used-by-unknown-code

an operator
- { return a; }
+ { return b; }
= added plain scale_made; drop; unnamed-use

the macro that makes kernels
- *p = helper(*p); }\n
+ *p = 1 + helper(*p); }\n
= added far plain scale_made; reach-not-closed unplaced-host-code; used-by-unknown-code

a kernel that is new
- __global__ void added
+ __global__ void fresh(float *p) { *p = 0; }\n__global__ void added
= scale_made; drop
"#;

#[test]
fn every_word_is_documented() {
    let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/attribution.md");
    #[expect(clippy::disallowed_methods, reason = "the path is in the panic")]
    let page = std::fs::read_to_string(page).unwrap();
    let why = kernrec_attribution::Why::ALL.iter().map(|why| why.word());
    let doubts = kernrec_attribution::HostDoubt::ALL
        .iter()
        .map(|doubt| doubt.word());
    let missing: Vec<&str> = why
        .chain(doubts)
        .filter(|word| !page.contains(&format!("`{word}`")))
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
