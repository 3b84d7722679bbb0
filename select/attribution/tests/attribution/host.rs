//! Edits of host code: what it can launch votes, and silence counts only where it launches whenever it runs.

use crate::project::{Project, check};
use kernrec_attribution::HostCode;

const SOURCE: &str = r#"
#include "other.h"

#define CHECK(call) do { cudaError_t err = (call); if (err != cudaSuccess) abort(); } while (0)
#define CHECK_OR_RETURN(call) do { if ((call) != cudaSuccess) return; } while (0)
#define LAUNCH(kernel, n, ...) kernel<<<(n + 127) / 128, 128>>>(__VA_ARGS__)

__global__ void first(float *p, int n) { p[n] = 1; }
__global__ void second(float *p, int n) { p[n] = 2; }
__global__ void third(float *p, int n) { p[n] = 3; }
template <typename T> __global__ void fourth(T *p, int n) { p[n] = 4; }

static int blocks(int n) { return (n + 127) / 128; }

void simple(float *p, int n, cudaStream_t stream) {
  const dim3 grid(blocks(n));
  first<<<grid, 128, 0, stream>>>(p, n);
  CHECK(cudaGetLastError());
}

void early(float *p, int n) {
  if (n == 0) return;
  first<<<1, 1>>>(p, n);
}

void maybe(float *p, int n) {
  if (n > 1) { second<<<1, 1>>>(p, n); }
}

void choice(float *p, int n) {
  if (n > 1) { first<<<1, 1>>>(p, n); } else { second<<<1, 1>>>(p, n); }
}

void looped(float *p, int n) {
  for (int i = 0; i < n; ++i) third<<<1, 1>>>(p, i);
}

void once(float *p, int n) {
  do { third<<<1, 1>>>(p, n); } while (0);
}

void checked(float *p, int n) {
  CHECK_OR_RETURN(cudaSetDevice(0));
  first<<<1, 1>>>(p, n);
}

void strange(float *p, int n) {
  somebody_elses(p);
  first<<<1, 1>>>(p, n);
}

void by_pointer(float *p, int n) {
  void *args[] = {&p, &n};
  cudaLaunchKernel((void *)second, dim3(1), dim3(1), args, 0, 0);
}

void by_config(cudaLaunchConfig_t *config, float *p, int n) {
  cudaLaunchKernelEx(config, fourth<float>, p, n);
}

void by_macro(float *p, int n) { LAUNCH(third, n, p, n); }

void throwing(float *p, int n) {
  if (n < 0) throw n;
  third<<<1, 1>>>(p, n);
}

void through(float *p, int n) { simple(p, n, 0); }

void away(float *p, int n) { other_launch(p, n); }

int counted(float *p, int n) {
  first<<<1, 1>>>(p, n);
  return n;
}

int nothing(int n) { return n + 1; }

void silent(int *n) { *n = 1; }

void callback(void (*function)(int)) { function(1); }

void in_lambda(float *p, int n) {
  auto later = [=]() { first<<<1, 1>>>(p, n); };
  later();
}

void switched(float *p, int n) {
  switch (n) {
    case 1: first<<<1, 1>>>(p, n); break;
    default: second<<<1, 1>>>(p, n); break;
  }
}

void templated_call(float *p, int n) { fourth<float><<<1, 1>>>(p, n); }

struct Launcher {
  int n;
  void run(float *p) { second<<<1, 1>>>(p, n); }
};

typedef void (*launcher_t)(float *, int);
static const launcher_t table[] = {maybe, looped};
void indexed(float *p, int n) { table[n](p, n); }
"#;

const OTHER: &str = r#"
#include "other.h"
__global__ void far(float *p, int n) { p[n] = 5; }
void other_launch(float *p, int n) { far<<<1, 1>>>(p, n); }
"#;

fn project() -> Project {
    Project::default()
        .file("a.cu", SOURCE)
        .file("b.cu", OTHER)
        .file("other.h", "void other_launch(float *p, int n);\n")
        .object("a.cu other.h", "first second third fourth")
        .object("b.cu other.h", "far")
}

#[test]
fn changed_host_code_votes_with_what_it_can_launch_and_clears_only_what_it_always_launches() {
    check(&project(), HOST_EDITS);
}

#[test]
fn who_accepts_the_risk_lets_conditional_launchers_clear() {
    check(&project().policy(HostCode::Reach), RISK_EDITS);
}

const HOST_EDITS: &str = r"a launcher
- first<<<grid, 128, 0, stream>>>
+ first<<<grid, 256, 0, stream>>>
= first; drop

an early return
- if (n == 0) return;
+ if (n <= 0) return;
= first; may-return-without-launching

a launch in a branch
- if (n > 1) { second
+ if (n > 2) { second
= second; may-return-without-launching

a launch in each branch
- if (n > 1) { first
+ if (n > 2) { first
= first second; drop

a launch in a loop
- i < n; ++i) third
+ i < n; i += 1) third
= third; may-return-without-launching

a loop that runs once
- do { third<<<1, 1>>>
+ do { third<<<1, 2>>>
= third; drop

a macro that returns
- cudaSetDevice(0)
+ cudaSetDevice(1)
= first; may-return-without-launching

a function nobody knows
- somebody_elses(p);\n  first<<<1, 1>>>
+ somebody_elses(p);\n  first<<<1, 2>>>
= first; reach-not-closed

a launch by pointer
- (void *)second, dim3(1)
+ (void *)second, dim3(2)
= second; drop

a launch by configuration
- cudaLaunchKernelEx(config, fourth<float>, p, n);
+ cudaLaunchKernelEx(config, fourth<float>, p, n + 1);
= fourth; drop

a launch by a macro
- LAUNCH(third, n, p, n);
+ LAUNCH(third, n, p, n + 1);
= third; drop

an exception
- if (n < 0) throw n;
+ if (n < 1) throw n;
= third; may-return-without-launching

a launcher's caller
- simple(p, n, 0);
+ simple(p, n + 1, 0);
= first; drop

a launcher in another file
- away(float *p, int n) { other_launch(p, n);
+ away(float *p, int n) { other_launch(p, n + 1);
= far; drop

a launcher that returns a value
- return n;\n}
+ return n + 2;\n}
= first; returns-a-value

no launch at all, but a value
- nothing(int n) { return n + 1;
+ nothing(int n) { return n + 2;
= far first fourth second third; launches-nothing returns-a-value may-return-without-launching; reaches-no-kernel

a helper that launchers call
- return (n + 127) / 128;
+ return (n + 63) / 64;
= far first fourth second third; launches-nothing returns-a-value may-return-without-launching; reaches-no-kernel

no launch at all
- *n = 1;
+ *n = 2;
= far first fourth second third; launches-nothing may-return-without-launching; reaches-no-kernel

a call of what was passed
- function(1);
+ function(2);
= far first fourth second third; launches-nothing reach-not-closed; reaches-no-kernel

a launch in a lambda
- first<<<1, 1>>>(p, n); };\n
+ first<<<1, 2>>>(p, n); };\n
= first; reach-not-closed

a launch in a switch
- case 1: first
+ case 2: first
= first second; may-return-without-launching

a launch of an instance
- fourth<float><<<1, 1>>>
+ fourth<float><<<1, 2>>>
= fourth; drop

a method
- second<<<1, 1>>>(p, n); }\n};
+ second<<<1, 2>>>(p, n); }\n};
= second; reach-not-closed

a table of functions
- {maybe, looped}
+ {looped, maybe}
= second third; reach-not-closed

a macro that launches
- kernel<<<(n + 127) / 128, 128>>>
+ kernel<<<(n + 63) / 64, 64>>>
= third; drop

a macro that checks
- abort(); } while (0)
+ abort(); } while (false)
= first; drop
";

const RISK_EDITS: &str = r"an early return
- if (n == 0) return;
+ if (n <= 0) return;
= first; drop

a launch in a loop
- i < n; ++i) third
+ i < n; i += 1) third
= third; drop

a function nobody knows
- somebody_elses(p);\n  first<<<1, 1>>>
+ somebody_elses(p);\n  first<<<1, 2>>>
= first; reach-not-closed

a launcher that returns a value
- return n;\n}
+ return n + 2;\n}
= first; returns-a-value

no launch at all
- *n = 1;
+ *n = 2;
= far first fourth second third; launches-nothing; reaches-no-kernel
";
