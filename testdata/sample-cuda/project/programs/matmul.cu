// The header's kernel for another type, and a static kernel whose name another program has too.
#include "sample/device.cuh"
#include "sample/report.h"
#include "sample/tile.cuh"

static __global__ void fill(float *values, int count) {
  int i = sample::index();
  if (i < count) values[i] = 2;
}

template <typename T>
__global__ void dot_rows(T *product, const T *a, const T *b_transposed, int side) {
  int i = sample::index();
  if (i >= side * side) return;
  T sum = 0;
  for (int k = 0; k < side; ++k) sum += a[i / side * side + k] * b_transposed[i % side * side + k];
  product[i] = sum;
}

__global__ void widen(double *to, const float *from, int count) {
  int i = sample::index();
  if (i < count) to[i] = from[i];
}

int main() {
  const int side = 32, count = side * side;
  float *seed;
  double *a, *b, *product, result;
  cudaMalloc(&seed, count * sizeof(float));
  cudaMalloc(&a, count * sizeof(double));
  cudaMalloc(&b, count * sizeof(double));
  cudaMalloc(&product, count * sizeof(double));
  fill<<<8, 128>>>(seed, count);
  widen<<<8, 128>>>(a, seed, count);
  sample::transpose<double><<<dim3(2, 2), dim3(sample::tile, sample::tile)>>>(b, a, side);
  dot_rows<double><<<8, 128>>>(product, a, b, side);
  cudaMemcpy(&result, product, sizeof(double), cudaMemcpyDeviceToHost);
  return sample::report("matmul", result, 4 * side);
}
