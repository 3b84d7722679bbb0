#include "sample/device.cuh"
#include "sample/kernels.h"

namespace sample {
namespace {

__global__ void partial_sums(float *total, const float *values, int count) {
  int i = index();
  if (i < count) atomicAdd(total, values[i]);
}

}  // namespace

float sum(const float *values, int count) {
  float *total;
  float result = 0;
  cudaMalloc(&total, sizeof(float));
  cudaMemset(total, 0, sizeof(float));
  partial_sums<<<(count + 127) / 128, 128>>>(total, values, count);
  cudaMemcpy(&result, total, sizeof(float), cudaMemcpyDeviceToHost);
  cudaFree(total);
  return result;
}

}  // namespace sample
