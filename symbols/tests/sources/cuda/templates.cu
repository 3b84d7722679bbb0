// Kernel templates: explicit instantiations, and one that only a launch instantiates.
template <typename T, int N>
__global__ void fill(T *out) {
  out[threadIdx.x % N] = T(N);
}
template __global__ void fill<float, 4>(float *);
template __global__ void fill<double, 8>(double *);
template <typename T>
__global__ void twice(T *out) {
  *out += *out;
}
void launch(int *out) { twice<<<1, 1>>>(out); }
