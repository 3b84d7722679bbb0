// A template kernel of a header.
#include "sample/report.h"
#include "sample/tile.cuh"

#include <vector>

int main() {
  const int side = 50;
  std::vector<float> matrix(side * side);
  for (int i = 0; i < side * side; ++i) matrix[i] = i;
  float *from, *to;
  size_t bytes = matrix.size() * sizeof(float);
  cudaMalloc(&from, bytes);
  cudaMalloc(&to, bytes);
  cudaMemcpy(from, matrix.data(), bytes, cudaMemcpyHostToDevice);
  sample::transpose<float><<<dim3(4, 4), dim3(sample::tile, sample::tile)>>>(to, from, side);
  cudaMemcpy(matrix.data(), to, bytes, cudaMemcpyDeviceToHost);
  return sample::report("transpose", matrix[1], side);
}
