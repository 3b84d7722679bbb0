#pragma once
__device__ inline int depth() { return 7; }
