// Launch-bound loops of empty kernels. For each line on standard input it runs one turn and prints what a
// launch cost the launching thread, in nanoseconds; then the time of the first CUDA call in microseconds
// and the peak of resident memory in KiB:
//   launch eager COUNT | launch graph REPLAYS | launch threads COUNT_PER_THREAD | launch start
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>
#include <thread>
#include <vector>

__global__ void empty_kernel() {}
__global__ void other_kernel() {}

static void check(cudaError_t error, const char *what) {
    if (error != cudaSuccess) {
        std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
        std::exit(1);
    }
}
#define CHECK(call) check(call, #call)

static double now() {
    return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static void loop(long count, cudaStream_t stream) {
    for (long i = 0; i < count; i += 2) {
        empty_kernel<<<1, 1, 0, stream>>>();
        other_kernel<<<1, 1, 0, stream>>>();
    }
    CHECK(cudaGetLastError());
    CHECK(cudaStreamSynchronize(stream));
}

static long peak_kib() {
    char line[256];
    long kib = 0;
    std::FILE *status = std::fopen("/proc/self/status", "r");
    while (status && std::fgets(line, sizeof line, status)) std::sscanf(line, "VmHWM: %ld", &kib);
    if (status) std::fclose(status);
    return kib;
}

static double eager(long count, cudaStream_t stream) {
    double start = now();
    loop(count, stream);
    return (now() - start) / count;
}

static double threaded(long count) {
    double start = now();
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; t++)
        threads.emplace_back([count] {
            cudaStream_t own;
            CHECK(cudaStreamCreate(&own));
            loop(count, own);
            CHECK(cudaStreamDestroy(own));
        });
    for (auto &thread : threads) thread.join();
    return (now() - start) / (count * 8);
}

static double replays(long count, cudaGraphExec_t exec, cudaStream_t stream) {
    double start = now();
    for (long i = 0; i < count; i++) CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    return (now() - start) / (count * 100);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "start";
    long count = argc > 2 ? std::atol(argv[2]) : 0;
    double start = now();
    CHECK(cudaFree(nullptr));
    double initialised = now() - start;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    loop(1000, stream);
    cudaGraph_t graph;
    cudaGraphExec_t exec;
    CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    for (int i = 0; i < 100; i++) empty_kernel<<<1, 1, 0, stream>>>();
    CHECK(cudaStreamEndCapture(stream, &graph));
    CHECK(cudaGraphInstantiate(&exec, graph, 0));
    CHECK(cudaGraphLaunch(exec, stream));
    CHECK(cudaStreamSynchronize(stream));
    char line[16];
    while (std::fgets(line, sizeof line, stdin)) {
        double each = 0;
        if (!std::strcmp(mode, "eager")) each = eager(count, stream);
        if (!std::strcmp(mode, "threads")) each = threaded(count);
        if (!std::strcmp(mode, "graph")) each = replays(count, exec, stream);
        std::printf("%.1f\n", each);
        std::fflush(stdout);
    }
    std::printf("%.0f %ld\n", initialised / 1000, peak_kib());
    return 0;
}
