// Launch-bound loops of empty kernels. Prints what one launch costs the launching thread, in nanoseconds:
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

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "start";
    long count = argc > 2 ? std::atol(argv[2]) : 0;
    double start = now();
    CHECK(cudaFree(nullptr));
    double initialised = now() - start;
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    loop(1000, stream);
    double each = 0;
    if (!std::strcmp(mode, "eager")) {
        start = now();
        loop(count, stream);
        each = (now() - start) / count;
    } else if (!std::strcmp(mode, "threads")) {
        start = now();
        std::vector<std::thread> threads;
        for (int t = 0; t < 8; t++)
            threads.emplace_back([count] {
                cudaStream_t own;
                CHECK(cudaStreamCreate(&own));
                loop(count, own);
            });
        for (auto &thread : threads) thread.join();
        each = (now() - start) / (count * 8);
    } else if (!std::strcmp(mode, "graph")) {
        cudaGraph_t graph;
        cudaGraphExec_t exec;
        CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
        for (int i = 0; i < 100; i++) empty_kernel<<<1, 1, 0, stream>>>();
        CHECK(cudaStreamEndCapture(stream, &graph));
        CHECK(cudaGraphInstantiate(&exec, graph, 0));
        CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        start = now();
        for (long i = 0; i < count; i++) CHECK(cudaGraphLaunch(exec, stream));
        CHECK(cudaStreamSynchronize(stream));
        each = (now() - start) / (count * 100);
    }
    std::printf("%.1f %.0f %ld\n", each, initialised / 1000, peak_kib());
    return 0;
}
