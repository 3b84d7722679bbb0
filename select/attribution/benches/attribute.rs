//! One changed source of 3,000 lines: both sides read, split, compared and followed to their kernels.

use criterion::{Criterion, criterion_group, criterion_main};
use kernrec_attribution::{
    Build, ChangedFile, HostCode, Library, Object, Side, Sources, Unreadable,
};
use std::fmt::Write;
use std::hint::black_box;

/// Kernels, helpers and launchers as libraries have them: about 20 lines each.
fn source() -> String {
    let mut text = "#include <cuda_runtime.h>\n#define BLOCK 256\nnamespace ops {\n".to_owned();
    for number in 0..150 {
        write!(
            text,
            "// Operator {number}.\n\
             template <typename T>\n\
             static __device__ __forceinline__ T step_{number}(T v, int n) {{\n  T r = v;\n  for (int i = 0; i < n; ++i) {{\n    r = r * v + static_cast<T>(i);\n  }}\n  return r;\n}}\n\
             template <typename T, int N>\n__global__ void __launch_bounds__(BLOCK) op_{number}(const T *in, T *out, int n) {{\n  const int i = blockIdx.x * BLOCK + threadIdx.x;\n  if (i >= n) {{\n    return;\n  }}\n  out[i] = step_{number}(in[i], N) + helper(in[i]);\n}}\n\
             void launch_{number}(const float *in, float *out, int n, cudaStream_t stream) {{\n  const dim3 grid((n + BLOCK - 1) / BLOCK);\n  op_{number}<float, 4><<<grid, BLOCK, 0, stream>>>(in, out, n);\n}}\n"
        )
        .expect("a string");
    }
    let helper = "__device__ float helper(float v) { return v * 2; }\n";
    text.replacen(
        "namespace ops {\n",
        &format!("namespace ops {{\n{helper}"),
        1,
    ) + "}\n"
}

struct Both {
    base: String,
    head: String,
}

impl Sources for Both {
    fn read(&mut self, side: Side, _: &str) -> Result<Option<Vec<u8>>, Unreadable> {
        let text = if side == Side::Base {
            &self.base
        } else {
            &self.head
        };
        Ok(Some(text.clone().into_bytes()))
    }
}

fn attribute(c: &mut Criterion) {
    let base = source();
    let symbols: Vec<String> = (0..150)
        .map(|number| {
            format!(
                "_ZN3ops{}op_{number}IfLi4EEEvPKT_PS1_i",
                format!("op_{number}").len()
            )
        })
        .collect();
    let build = Build {
        objects: vec![Object {
            files: vec!["a.cu"],
            symbols: (0..150).collect(),
        }],
        symbols: symbols.iter().map(String::as_str).collect(),
    };
    let edits = [
        (
            "kernel",
            "in[i], N) + helper(in[i]);\n}\nvoid launch_77",
            "in[i], N) - helper(in[i]);\n}\nvoid launch_77",
        ),
        ("helper_of_every_kernel", "return v * 2;", "return v * 3;"),
        (
            "launcher",
            "op_90<float, 4><<<grid, BLOCK, 0",
            "op_90<float, 4><<<grid, BLOCK, 4",
        ),
        ("include", "#include <cuda_runtime.h>", "#include <cuda.h>"),
    ];
    let mut group = c.benchmark_group(format!("attribute_{}_lines", base.lines().count()));
    for (name, from, to) in edits {
        let mut sources = Both {
            head: base.replacen(from, to, 1),
            base: base.clone(),
        };
        assert_ne!(sources.base, sources.head, "{name}");
        let changes = [ChangedFile::modified("a.cu")];
        group.bench_function(name, |bencher| {
            bencher.iter(|| {
                let mut library = Library::new(&changes, &mut sources);
                black_box(library.attribute(&build, &changes, HostCode::Certain))
            });
        });
    }
    group.finish();
}

criterion_group!(benches, attribute);
criterion_main!(benches);
