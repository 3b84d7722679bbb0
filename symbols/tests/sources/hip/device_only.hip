#include "mini_hip.h"
__device__ int helper(int x) { return x * 3; }
__device__ int counter;
