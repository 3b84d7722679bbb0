//! Against programs whose calls are known, and against texts that are none.

use crate::project::Project;
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::fmt::Write;

/// A program of device functions and kernels: by function, the functions with a smaller number that it calls.
#[derive(Debug, Clone)]
struct Program {
    helpers: Vec<Helper>,
    kernels: Vec<Vec<usize>>,
}

#[derive(Debug, Clone)]
struct Helper {
    calls: Vec<usize>,
    file: usize,
    style: u8,
}

const FILES: usize = 3;
const HELPERS: usize = 8;

fn programs() -> impl Strategy<Value = Program> {
    let calls = || prop::collection::vec(0..HELPERS, 0..3);
    let helper =
        (calls(), 0..FILES, 0..6_u8).prop_map(|(calls, file, style)| Helper { calls, file, style });
    (
        prop::collection::vec(helper, HELPERS),
        prop::collection::vec(calls(), 1..6),
    )
        .prop_map(|(mut helpers, kernels)| {
            for (number, helper) in helpers.iter_mut().enumerate() {
                helper.calls.retain(|call| *call < number);
            }
            Program { helpers, kernels }
        })
}

impl Program {
    fn helper(&self, number: usize, value: u32) -> String {
        let helper = &self.helpers[number];
        let calls: String = helper.calls.iter().fold(String::new(), |mut calls, call| {
            write!(calls, " + {}", self.call(*call)).unwrap();
            calls
        });
        match helper.style {
            0 => {
                format!("__device__ inline int f{number}(int v) {{ return v + {value}{calls}; }}\n")
            }
            1 => format!(
                "template <typename T> __device__ T f{number}(T v) {{\n  return v + {value}{calls};\n}}\n"
            ),
            2 => format!("#define f{number}(v) ((v) + {value}{calls})\n"),
            3 => format!(
                "struct f{number}_t {{\n  static __device__ int run(int v) {{ return v + {value}{calls}; }}\n}};\n"
            ),
            4 => format!(
                "namespace n{number} {{\nstatic __device__ __forceinline__ int f{number}(int v) {{ return v + {value}{calls}; }}\n}}\n"
            ),
            _ => format!(
                "#if 1\n__host__ __device__ constexpr int f{number}(int v) {{ return v + {value}{calls}; }}\n#endif\n"
            ),
        }
    }

    fn call(&self, number: usize) -> String {
        match self.helpers[number].style {
            1 => format!("f{number}<int>(v)"),
            3 => format!("f{number}_t::run(v)"),
            4 => format!("n{number}::f{number}(v)"),
            _ => format!("f{number}(v)"),
        }
    }

    /// The project, with one helper's value changed.
    fn project(&self, changed: usize) -> Project {
        let mut project = Project::default();
        for file in 0..FILES {
            let text = |value: u32| {
                (0..self.helpers.len())
                    .filter(|number| self.helpers[*number].file == file)
                    .fold("#pragma once\n".to_owned(), |text, number| {
                        text + &self.helper(number, if number == changed { value } else { 1 })
                    })
            };
            let path = format!("h{file}.cuh");
            project = project
                .file(&path, text(1))
                .set_head(&path, Some(text(2).into_bytes()));
        }
        for (number, calls) in self.kernels.iter().enumerate() {
            let mut text = (0..FILES).fold(String::new(), |text, file| {
                text + &format!("#include \"h{file}.cuh\"\n")
            });
            let calls: Vec<String> = calls.iter().map(|call| self.call(*call)).collect();
            writeln!(
                text,
                "__global__ void k{number}(int *p, int v) {{ *p = 0 + {}; }}",
                [vec!["v".to_owned()], calls].concat().join(" + ")
            )
            .unwrap();
            let path = format!("k{number}.cu");
            project = project.file(&path, text).object(
                &format!("{path} h0.cuh h1.cuh h2.cuh"),
                &format!("k{number}"),
            );
        }
        project
    }

    /// The kernels that run a helper.
    fn users(&self, changed: usize) -> BTreeSet<String> {
        let mut reached = BTreeSet::from([changed]);
        for number in changed..self.helpers.len() {
            if self.helpers[number]
                .calls
                .iter()
                .any(|call| reached.contains(call))
            {
                reached.insert(number);
            }
        }
        let uses = |calls: &Vec<usize>| calls.iter().any(|call| reached.contains(call));
        let kernels = self.kernels.iter().enumerate();
        kernels
            .filter(|(_, calls)| uses(calls))
            .map(|(number, _)| format!("k{number}"))
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_kernel_that_runs_changed_code_is_missed(program in programs(), changed in 0..HELPERS) {
        let path = format!("h{}.cuh", program.helpers[changed].file);
        let found = program.project(changed).attribute(&path);
        let kernels: BTreeSet<String> = found.kernels.split_whitespace().map(str::to_owned).collect();
        let users = program.users(changed);
        prop_assert!(users.is_subset(&kernels), "{users:?} of {kernels:?}");
        if !users.is_empty() && program.helpers[changed].style != 3 {
            prop_assert_eq!(users, kernels);
        }
    }

    #[test]
    fn no_text_makes_it_fail(cut in 0..2000_usize, length in 0..40_usize, noise in "[ -~\\n]{0,12}", at in 0..2000_usize) {
        let text = TEXT.as_bytes();
        let cut = cut % text.len();
        let mut head = text.to_vec();
        head.drain(cut..(cut + length).min(text.len()));
        let at = at % head.len();
        head.splice(at..at, noise.bytes());
        let truncated = text[..cut].to_vec();
        for head in [head, truncated] {
            let same = head == text;
            let project = Project::one(TEXT, "first second").set_head("a.cu", Some(head));
            let found = project.attribute("a.cu");
            prop_assert!(!found.kernels.is_empty() || same);
        }
    }

    #[test]
    fn a_further_edit_never_takes_a_kernel_away(one in 0..EDITS.len(), other in 0..EDITS.len()) {
        prop_assume!(one != other);
        let edited = |edits: &[usize]| {
            let project = edits.iter().fold(Project::one(TEXT, "first second"), |project, edit| {
                project.edit("a.cu", EDITS[*edit].0, EDITS[*edit].1)
            });
            project.attribute("a.cu")
        };
        let (single, both) = (edited(&[one]), edited(&[one, other]));
        let kernels = |found: &crate::project::Found| -> BTreeSet<String> {
            found.kernels.split_whitespace().map(str::to_owned).collect()
        };
        prop_assert!(kernels(&single).is_subset(&kernels(&both)), "{single:?} {both:?}");
        prop_assert!(single.class == "drop" || both.class != "drop", "{single:?} {both:?}");
    }
}

const TEXT: &str = r#"#pragma once
#include "x.h"
#define N 4
#define TWICE(x) \
  ((x) + (x))
namespace a {
template <typename T, int M = N>
__device__ T helper(T v) { return TWICE(v) * M; }
struct S { int x; __device__ int get() const { return x; } };
}
template <typename T> __global__ void first(T *p) {
#pragma unroll
  for (int i = 0; i < N; ++i) { p[i] = a::helper<T>(p[i]); }
}
extern "C" __global__ void second(float *p, a::S s) { p[s.get()] = R"(x)"[0] + 'c'; }
void launch(float *p, a::S s) {
  if (p) { first<float><<<1, 2>>>(p); } else { second<<<dim3(1), 2, 0>>>(p, s); }
}
"#;

const EDITS: [(&str, &str); 8] = [
    ("#define N 4", "#define N 5"),
    ("return x; }", "return x + 1; }"),
    ("TWICE(v) * M", "TWICE(v) + M"),
    ("p[s.get()]", "p[s.get() + 0]"),
    ("if (p)", "if (!p)"),
    ("#include \"x.h\"", "#include \"y.h\""),
    ("#pragma unroll", "#pragma unroll 4"),
    ("namespace a {", "inline namespace a {"),
];

#[test]
fn deep_and_long_texts_end() {
    let nested = |open: &str, close: &str| {
        let depth = 20_000;
        format!(
            "__global__ void first(float *p) {{ *p = {}1{}; }}\n__global__ void second(float *p) {{ *p = 1; }}\n",
            open.repeat(depth),
            close.repeat(depth)
        )
    };
    for (open, close) in [
        ("(", ")"),
        ("f(", ")"),
        ("[", "]"),
        ("{", "}"),
        ("a<", ">"),
        ("-", ""),
        ("x ? 1 : ", ""),
    ] {
        let text = nested(open, close);
        let head = text.replacen('1', "2", 1);
        let project = Project::one(&text, "first second").set_head("a.cu", Some(head.into_bytes()));
        let found = project.attribute("a.cu");
        assert!(found.kernels.contains("first"), "{open}: {found:?}");
    }
}
