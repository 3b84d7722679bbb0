// A transpose through shared memory, compiled into each file that uses it.
#pragma once

namespace sample {

constexpr int tile = 16;

template <typename T>
__global__ void transpose(T *to, const T *from, int side) {
  __shared__ T block[tile][tile + 1];
  int x = blockIdx.x * tile + threadIdx.x;
  int y = blockIdx.y * tile + threadIdx.y;
  if (x < side && y < side) block[threadIdx.y][threadIdx.x] = from[y * side + x];
  __syncthreads();
  x = blockIdx.y * tile + threadIdx.x;
  y = blockIdx.x * tile + threadIdx.y;
  if (x < side && y < side) to[y * side + x] = block[threadIdx.x][threadIdx.y];
}

}  // namespace sample
