#pragma once
#include "mini_hip.h"
__device__ inline int depth() { return 7; }
template <typename T>
__global__ void from_header(T *out) {
  *out = T(depth());
}
