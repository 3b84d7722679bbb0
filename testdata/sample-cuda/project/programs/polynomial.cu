// A kernel that the build writes, called through a declaration.
#include "sample/device.cuh"
#include "sample/report.h"

__global__ void polynomial(float *values, int count);

__global__ void points(float *values, int count) {
  int i = sample::index();
  if (i < count) values[i] = i;
}

int main() {
  float *values, result;
  cudaMalloc(&values, 3 * sizeof(float));
  points<<<1, 128>>>(values, 3);
  polynomial<<<1, 128>>>(values, 3);
  cudaMemcpy(&result, values + 2, sizeof(float), cudaMemcpyDeviceToHost);
  return sample::report("polynomial", result, 3 - 1 * 2 + 4 * 4 + 2 * 8);
}
