// Relocatable device code that launches none of the shared file's kernels, and calls its device function.
#include "sample/device.cuh"
#include "sample/field.cuh"
#include "sample/report.h"

static __global__ void start(float *heights, float *, int count) {
  int i = sample::index();
  if (i < count) heights[i] = 2;
}

__global__ void bend(float *heights, int count) {
  int i = sample::index();
  if (i < count) heights[i] += sample::force(heights[i]);
}

int main() {
  const int count = 64;
  float *heights, first;
  cudaMalloc(&heights, count * sizeof(float));
  start<<<1, 128>>>(heights, nullptr, count);
  bend<<<1, 128>>>(heights, count);
  cudaMemcpy(&first, heights, sizeof(float), cudaMemcpyDeviceToHost);
  return sample::report("waves", first, 1);
}
