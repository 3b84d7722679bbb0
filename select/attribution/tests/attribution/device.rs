//! Edits of device code: kernels, helpers, constants, types, templates.

use crate::project::{Project, check};

const SOURCE: &str = r#"
#include "shared.cuh"

#define BLOCK 256
#define SQUARE(x) ((x) * (x))
#define CALL_HELPER(n) helper_##n

constexpr int kWarp = 32;
static __constant__ float weights[16];
__device__ int counter;

using scalar = float;
typedef float number;

enum Mode { ADD, SUB };

struct Pair {
  float x, y;
  __device__ float sum() const { return x + y; }
  __device__ float product() const { return x * y; }
};

struct Negate {
  __device__ float operator()(float v) const { return -v; }
};

static __device__ __forceinline__ float helper_a(float v) { return v + 1; }
static __device__ float helper_b(float v) { return helper_a(v) * 2; }
__device__ float lonely(float v) { return v; }

template <typename T> struct Limits { static __device__ T top() { return T(0); } };
template <> struct Limits<float> { static __device__ float top() { return 1e30f; } };

template <typename T> __device__ T clamp_to(T v) { return v; }
template <> __device__ float clamp_to<float>(float v) { return v > 1 ? 1 : v; }

__global__ void plain(float *out, int n) {
  int i = blockIdx.x * BLOCK + threadIdx.x;
  if (i < n) out[i] = 1.0f;
}

__global__ void deep(float *out, int n) { out[n] = helper_b(out[n]); }
__global__ void shallow(float *out, int n) { out[n] = helper_a(out[n]); }
__global__ void pasted(float *out, int n) { out[n] = CALL_HELPER(b)(out[n]); }
__global__ void squared(float *out, int n) { out[n] = SQUARE(out[n]); }

template <typename T>
__global__ void __launch_bounds__(BLOCK) typed(T *out, int n) {
  out[n] = clamp_to(out[n]) + Limits<T>::top();
}

template <>
__global__ void typed<int>(int *out, int n) { out[n] = 7; }

__global__ void warps(float *out, int n) { out[n] = kWarp; }
__global__ void weighted(float *out, int n) { out[n] *= weights[n % 16]; }
__global__ void counted(int *out) { atomicAdd(&counter, 1); }
__global__ void aliased(float *out, int n) { scalar s = out[n]; out[n] = s; }
__global__ void defined(float *out, int n) { number s = out[n]; out[n] = s; }
__global__ void summed(const Pair *in, float *out, int n) { out[n] = in[n].sum(); }
__global__ void moded(float *out, int n, int mode) { if (mode == ADD) out[n] += 1; }

namespace inner {
namespace {
__global__ void hidden(float *out) { *out = 1; }
}  // namespace
}  // namespace inner

extern "C" __global__ void bare(float *out) { *out = 2; }

template <typename Op>
__global__ void mapped(float *out, int n, Op op) { out[n] = op(out[n]); }

void negate(float *out, int n) { mapped<<<1, BLOCK>>>(out, n, Negate{}); }
"#;

const HEADER: &str = r"
#pragma once
#define SHARED_SCALE 2
__device__ inline float shared_helper(float v) { return v * SHARED_SCALE; }
__device__ inline float shared_other(float v) { return v; }
template <typename T> __global__ void in_header(T *out) { *out = 0; }
";

const OTHER: &str = r#"
#include "shared.cuh"
static __device__ float helper_a(float v) { return v; }
__global__ void elsewhere(float *out) { *out = shared_helper(*out) + helper_a(*out); }
"#;

const KERNELS: &str = "plain deep shallow pasted squared typed warps weighted counted aliased defined summed moded \
    _ZN5inner41_GLOBAL__N__0730bb18_9_reduce_cu_e6bad88f6hiddenEPf _bare mapped in_header";

fn project() -> Project {
    let kernels = KERNELS.replace("_bare", "bare");
    Project::default()
        .file("a.cu", SOURCE)
        .file("shared.cuh", HEADER)
        .file("b.cu", OTHER)
        .object("a.cu shared.cuh /usr/include/cuda_runtime.h", &kernels)
        .object("b.cu shared.cuh", "elsewhere")
}

#[test]
fn an_edit_of_device_code_touches_exactly_the_kernels_that_run_it() {
    check(&project(), DEVICE_EDITS);
}

#[test]
fn hip_sources_are_read_alike() {
    let text = r"
#include <hip/hip_runtime.h>
__device__ float twice(float v) { return v + v; }
__global__ void doubled(float *out) { *out = twice(*out); }
__global__ void tripled(float *out) { *out = *out * 3; }
void run(float *out, hipStream_t stream) {
  hipLaunchKernelGGL(doubled, dim3(1), dim3(64), 0, stream, out);
}
void run_other(float *out, hipStream_t stream) {
  hipLaunchKernelGGL(HIP_KERNEL_NAME(tripled), dim3(1), dim3(64), 0, stream, out);
}
";
    let project = Project::default()
        .file("k.hip", text)
        .object("k.hip", "doubled tripled");
    check(&project, HIP_EDITS);
}

#[test]
fn relocatable_device_code_is_followed_through_declarations() {
    let project = Project::default()
        .file("force.cu", "#include \"force.cuh\"\n__device__ float force(float v) { return v; }\n__global__ void own(float *p) { *p = 1; }\n")
        .file("force.cuh", "__device__ float force(float v);\n")
        .file("user.cu", "#include \"force.cuh\"\n__global__ void user(float *p) { *p = force(*p); }\n__global__ void aside(float *p) { *p = 0; }\n")
        .file("stranger.cu", "static __device__ float force(float v) { return 2 * v; }\n__global__ void stranger(float *p) { *p = force(*p); }\n")
        .object("force.cu force.cuh", "own")
        .object("stranger.cu", "stranger");
    let edited = |project: Project| {
        project
            .edit("force.cu", "return v;", "return -v;")
            .attribute("force.cu")
    };
    // The map lists what the device linker takes from other objects.
    let mapped = edited(
        project
            .clone()
            .object("user.cu force.cuh force.cu", "user aside"),
    );
    // A map that does not is made up for.
    let unmapped = edited(project.object("user.cu force.cuh", "user aside"));
    for found in [mapped, unmapped] {
        assert_eq!(
            (found.kernels.as_str(), found.class.as_str()),
            ("user", "drop")
        );
    }
}

const DEVICE_EDITS: &str = r"a kernel's body
- out[i] = 1.0f
+ out[i] = 2.0f
= plain; drop

a kernel's parameters
- plain(float *out, int n)
+ plain(float *out, long n)
= plain; drop

a kernel that is given a new line
- if (i < n) out
+ n -= 1;\n  if (i < n) out
= plain; drop

a kernel that loses a line
-   if (i < n) out[i] = 1.0f;\n
+ 
= plain; drop

a helper of a helper
- return v + 1;
+ return v + 2;
= deep pasted shallow; drop

a helper
- helper_a(v) * 2
+ helper_a(v) * 3
= deep pasted; drop

a value macro
- #define BLOCK 256
+ #define BLOCK 128
= mapped plain typed; drop

a function macro
- ((x) * (x))
+ ((x) * (x) + 0)
= squared; drop

a pasting macro
- helper_##n
+ helper_##n /**/ + 0 *
= pasted; drop

a constant
- kWarp = 32
+ kWarp = 64
= warps; drop

constant memory
- weights[16];
+ weights[32];
= weighted; drop

device memory
- __device__ int counter;
+ __device__ long counter;
= counted; drop

an alias
- using scalar = float
+ using scalar = double
= aliased; drop

a typedef
- typedef float number
+ typedef double number
= defined; drop

an enumeration
- { ADD, SUB }
+ { SUB, ADD }
= moded; drop

a member function
- return x + y;
+ return y + x;
= summed; drop

a field
- float x, y;
+ double x, y;
= summed; drop

a functor that host code passes
- return -v;
+ return 0 - v;
= mapped; drop

a template kernel
- clamp_to(out[n]) +
+ clamp_to(out[n]) -
= typed; drop

a specialised kernel
- out[n] = 7;
+ out[n] = 8;
= typed; drop

a specialised type
- return 1e30f;
+ return 1e31f;
= typed; drop

a specialised helper
- v > 1 ? 1 : v
+ v > 2 ? 2 : v
= typed; drop

an anonymous namespace
- *out = 1; }
+ *out = 3; }
= _ZN5inner41_GLOBAL__N__0730bb18_9_reduce_cu_e6bad88f6hiddenEPf; drop

a bare name
- *out = 2; }
+ *out = 4; }
= bare; drop

launch bounds
- __launch_bounds__(BLOCK) typed
+ __launch_bounds__(BLOCK, 2) typed
= typed; drop

a new kernel beside a changed one
- out[n] *= weights
+ out[n] += weights
= weighted; drop

two kernels
- { out[n] = helper_b(out[n]); }\n__global__ void shallow(float *out, int n) { out[n] = 
+ { out[n] = 1 + helper_b(out[n]); }\n__global__ void shallow(float *out, int n) { out[n] = 1 + 
= deep shallow; drop

a header's helper in shared.cuh
- return v * SHARED_SCALE
+ return SHARED_SCALE * v
= elsewhere; drop

a header's macro in shared.cuh
- SHARED_SCALE 2
+ SHARED_SCALE 3
= elsewhere; drop

a header's kernel in shared.cuh
- *out = 0;
+ *out = 1;
= in_header; drop

another file's helper of the same name in b.cu
- helper_a(float v) { return v; }
+ helper_a(float v) { return -v; }
= elsewhere; drop
";

const HIP_EDITS: &str = r"a helper in k.hip
- return v + v;
+ return 2 * v;
= doubled; drop

a launcher in k.hip
- doubled, dim3(1), dim3(64)
+ doubled, dim3(1), dim3(32)
= doubled; drop

a launcher by name in k.hip
- HIP_KERNEL_NAME(tripled), dim3(1)
+ HIP_KERNEL_NAME(tripled), dim3(2)
= tripled; drop
";
