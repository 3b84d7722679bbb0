// Internal linkage: an anonymous namespace and `static`.
namespace {
__global__ void hidden(int *out) { *out = 1; }
}  // namespace
static __global__ void local(int *out) { *out = 2; }
void launch(int *out) {
  hidden<<<1, 1>>>(out);
  local<<<1, 1>>>(out);
}
