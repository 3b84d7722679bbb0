#include "sample/device.cuh"
#include "sample/kernels.h"

namespace sample {

template <typename T>
__global__ void multiply(T *values, int count, T factor) {
  int i = index();
  if (i < count) values[i] *= factor;
}

void scale(float *values, int count, float factor) {
  multiply<float><<<(count + 127) / 128, 128>>>(values, count, factor);
}

}  // namespace sample
