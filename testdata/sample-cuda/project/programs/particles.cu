// Relocatable device code: a static kernel of the same name as another program's, told apart by its prefix.
#include "sample/device.cuh"
#include "sample/field.cuh"
#include "sample/report.h"

static __global__ void start(float *positions, float *velocities, int count) {
  int i = sample::index();
  if (i >= count) return;
  positions[i] = 1;
  velocities[i] = 0;
}

__global__ void accelerate(const float *positions, float *velocities, int count) {
  int i = sample::index();
  if (i < count) velocities[i] += sample::force(positions[i]);
}

int main() {
  const int count = 64;
  float *positions, *velocities, first;
  cudaMalloc(&positions, count * sizeof(float));
  cudaMalloc(&velocities, count * sizeof(float));
  start<<<1, 128>>>(positions, velocities, count);
  accelerate<<<1, 128>>>(positions, velocities, count);
  sample::drift(positions, velocities, count);
  cudaMemcpy(&first, positions, sizeof(float), cudaMemcpyDeviceToHost);
  return sample::report("particles", first, 0.5);
}
