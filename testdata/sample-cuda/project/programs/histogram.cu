// A kernel in an anonymous namespace, and a static one whose name another program has too.
#include "sample/device.cuh"
#include "sample/report.h"

static __global__ void fill(float *values, int count) {
  int i = sample::index();
  if (i < count) values[i] = 0;
}

namespace {

__global__ void count_remainders(float *bins, int bin_count, int count) {
  int i = sample::index();
  if (i < count) atomicAdd(&bins[i % bin_count], 1);
}

}  // namespace

int main() {
  const int bin_count = 10;
  float *bins, first;
  cudaMalloc(&bins, bin_count * sizeof(float));
  fill<<<1, 128>>>(bins, bin_count);
  count_remainders<<<8, 128>>>(bins, bin_count, 1000);
  cudaMemcpy(&first, bins, sizeof(float), cudaMemcpyDeviceToHost);
  return sample::report("histogram", first, 100);
}
