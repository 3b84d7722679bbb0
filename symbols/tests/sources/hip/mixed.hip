// A little of everything, for the matrix of compiler flags.
#include "header_kernel.h"
namespace ns {
template <typename T>
__global__ void scale(T *p) {
  *p *= T(depth());
}
template __global__ void scale<float>(float *);
template __global__ void scale<double>(double *);
}  // namespace ns
namespace {
__global__ void hidden(int *out) { *out = 1; }
}  // namespace
static __global__ void local(int *out) { *out = 2; }
extern "C" __global__ void plain_name(int *out) { *out = 3; }
extern "C" __device__ int helper(int x) { return x * 3; }
const void *used[] = {(const void *)&hidden, (const void *)&local, (const void *)&from_header<int>};
