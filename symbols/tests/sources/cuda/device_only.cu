__device__ int helper(int x) { return x * 3; }
__constant__ int table[4] = {1, 2, 3, 4};
__device__ int counter;
