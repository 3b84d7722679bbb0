// The few declarations that HIP's compiler needs, instead of HIP's own headers.
#pragma once
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __constant__ __attribute__((constant))
struct dim3 {
  unsigned x, y, z;
};
typedef struct stream *hipStream_t;
extern "C" int hipLaunchKernel(const void *, dim3, dim3, void **, __SIZE_TYPE__, hipStream_t);
