extern "C" __global__ void plain_name(int *out) { *out = 1; }
extern "C" __global__ void $dollar_name(int *out) { *out = 2; }
