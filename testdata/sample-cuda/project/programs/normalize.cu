// Its own kernel and two of the library's.
#include "sample/device.cuh"
#include "sample/kernels.h"
#include "sample/report.h"

__global__ void ramp(float *values, int count) {
  int i = sample::index();
  if (i < count) values[i] = i + 1;
}

int main() {
  const int count = 100;
  float *values;
  cudaMalloc(&values, count * sizeof(float));
  ramp<<<1, 128>>>(values, count);
  sample::scale(values, count, 1 / sample::sum(values, count));
  return sample::report("normalize", sample::sum(values, count), 1);
}
