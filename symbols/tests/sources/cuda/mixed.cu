// A little of everything, for the matrix of compiler flags.
#include "header_kernel.cuh"
namespace ns {
template <typename T>
__global__ void scale(T *p, int n) {
  if (threadIdx.x < n) p[threadIdx.x] *= T(depth());
}
template __global__ void scale<float>(float *, int);
template __global__ void scale<double>(double *, int);
}  // namespace ns
namespace {
__global__ void hidden(int *out) { *out = 1; }
}  // namespace
static __global__ void local(int *out) { *out = 2; }
extern "C" __global__ void plain_name(int *out) {
  asm volatile("// .entry not_a_kernel(\n\t/* .entry neither( */");
  *out = 3;
}
#if __CUDA_ARCH__ >= 900 || !defined(__CUDA_ARCH__)
__global__ void only_from_sm_90(int *out) { *out = 4; }
#endif
__device__ int helper(int x) { return x * 3; }
void launch(int *out) {
  hidden<<<1, 1>>>(out);
  local<<<1, 1>>>(out);
  from_header<<<1, 1>>>(out);
}
