// What every kernel needs.
#pragma once

namespace sample {

__device__ inline int index() { return blockIdx.x * blockDim.x + threadIdx.x; }

}  // namespace sample
