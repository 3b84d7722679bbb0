namespace outer {
namespace inner {
__global__ void nested(int *out) { *out = 1; }
}  // namespace inner
struct Tag {};
__global__ void tagged(Tag, int *out) { *out = 2; }
}  // namespace outer
inline namespace v1 {
__global__ void versioned(int *out) { *out = 3; }
}  // namespace v1
