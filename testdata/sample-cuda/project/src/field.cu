#include "sample/device.cuh"
#include "sample/field.cuh"

namespace sample {

__device__ float force(float position) { return -0.5f * position; }

__global__ void drift_kernel(float *positions, const float *velocities, int count) {
  int i = index();
  if (i < count) positions[i] += velocities[i];
}

void drift(float *positions, const float *velocities, int count) {
  drift_kernel<<<(count + 127) / 128, 128>>>(positions, velocities, count);
}

}  // namespace sample
