// A host program: its kernels are the library's.
#include "sample/kernels.h"
#include "sample/report.h"

#include <cuda_runtime.h>
#include <vector>

int main() {
  std::vector<float> ones(1000, 1.0f);
  float *values;
  cudaMalloc(&values, ones.size() * sizeof(float));
  cudaMemcpy(values, ones.data(), ones.size() * sizeof(float), cudaMemcpyHostToDevice);
  return sample::report("sum", sample::sum(values, 1000), 1000);
}
