//! A project shaped like a tensor library: one file that dispatches to thirty others and has one kernel of its own.

use crate::project::{NARROWED, Project};
use std::fmt::Write;

const OPERATORS: usize = 30;

fn project() -> Project {
    let mut declarations =
        "#pragma once\nstruct tensor { int op; float *data; int n; };\n".to_owned();
    let mut cases = String::new();
    let mut project = Project::default();
    for number in 0..OPERATORS {
        writeln!(declarations, "void op_{number}(tensor *t);").unwrap();
        writeln!(cases, "    case {number}: op_{number}(t); break;").unwrap();
        let text = format!(
            "#include \"ops.cuh\"\n\
             __global__ void kernel_{number}(float *p, int n) {{ p[n] = {number}; }}\n\
             void op_{number}(tensor *t) {{\n  if (t->n == 0) return;\n  kernel_{number}<<<1, 32>>>(t->data, t->n);\n}}\n"
        );
        let path = format!("op_{number}.cu");
        project = project.file(&path, text);
        project = project.object(&format!("{path} ops.cuh"), &format!("kernel_{number}"));
    }
    let dispatcher = format!(
        "#include \"ops.cuh\"\n\
         static __global__ void own_kernel(float *p) {{ *p = 0; }}\n\
         static void prepare(tensor *t) {{ own_kernel<<<1, 1>>>(t->data); }}\n\
         static bool supports(int op) {{ return op < {OPERATORS}; }}\n\
         static bool compute(tensor *t) {{\n  if (!supports(t->op)) return false;\n  switch (t->op) {{\n{cases}    default: return false;\n  }}\n  return true;\n}}\n\
         bool run(tensor *t) {{\n  prepare(t);\n  return compute(t);\n}}\n"
    );
    project
        .file("ops.cuh", declarations)
        .file("dispatch.cu", dispatcher)
        .object("dispatch.cu ops.cuh", "own_kernel")
}

fn all_kernels() -> String {
    let mut kernels: Vec<String> = (0..OPERATORS)
        .map(|number| format!("kernel_{number}"))
        .collect();
    kernels.push("own_kernel".to_owned());
    kernels.sort();
    kernels.join(" ")
}

#[test]
fn an_edit_of_the_dispatcher_reaches_the_kernels_of_every_file_and_clears_none() {
    let found = project()
        .edit(
            "dispatch.cu",
            "case 3: op_3(t); break;",
            "case 3: op_4(t); break;",
        )
        .attribute("dispatch.cu");
    let without_own = all_kernels().replace(" own_kernel", "");
    assert_eq!(found.kernels, without_own);
    assert_eq!(found.class, "returns-a-value may-return-without-launching");
    assert_eq!(found.word, NARROWED);
}

#[test]
fn an_edit_of_its_entry_reaches_all_of_them() {
    let found = project()
        .edit("dispatch.cu", "  prepare(t);\n", "")
        .attribute("dispatch.cu");
    assert_eq!(found.kernels, all_kernels());
    assert_eq!(found.class, "returns-a-value may-return-without-launching");
}

#[test]
fn an_edit_of_its_one_kernel_stays_with_it() {
    let found = project()
        .edit("dispatch.cu", "*p = 0;", "*p = 1;")
        .attribute("dispatch.cu");
    assert_eq!(
        (found.kernels.as_str(), found.class.as_str()),
        ("own_kernel", "drop")
    );
}

#[test]
fn an_included_file_reaches_all_of_them() {
    let found = project()
        .edit(
            "dispatch.cu",
            "#include \"ops.cuh\"\n",
            "#include \"ops.cuh\"\n#include <cstdio>\n",
        )
        .attribute("dispatch.cu");
    assert_eq!(found.kernels, all_kernels());
    assert_eq!(
        (found.class.as_str(), found.word.as_str()),
        (
            "launches-nothing returns-a-value may-return-without-launching",
            "preprocessor-line"
        )
    );
}

#[test]
fn an_operator_that_may_return_first_keeps_every_step() {
    let found = project()
        .edit("op_7.cu", "t->n == 0", "t->n <= 0")
        .attribute("op_7.cu");
    assert_eq!(
        (found.kernels.as_str(), found.class.as_str()),
        ("kernel_7", "may-return-without-launching")
    );
}

#[test]
fn files_beyond_the_changed_ones_objects_are_named() {
    let edited = project().edit(
        "dispatch.cu",
        "case 3: op_3(t); break;",
        "case 3: op_4(t); break;",
    );
    let consulted = edited.consulted("dispatch.cu");
    assert_eq!(consulted.len(), OPERATORS);
    assert!(consulted.contains(&"op_29.cu".to_owned()));
    let own = project().edit("op_7.cu", "p[n] = 7;", "p[n] = 8;");
    assert!(own.consulted("op_7.cu").is_empty());
}
