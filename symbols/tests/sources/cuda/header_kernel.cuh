#pragma once
#include "header_depth.cuh"
template <typename T>
__global__ void from_header(T *out) {
  *out = T(depth());
}
