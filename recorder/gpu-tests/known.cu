// A program that knows what it launches, in the words that HIP and CUDA share: `hipcc -x hip known.cu` or `nvcc known.cu`.
//
//   known ACT...    each a word with numbers: eager=COUNT, graph=NODES,REPLAYS, threads=THREADS,COUNT, fork=CHILDREN,
//                   fork-gpu=CHILDREN, spawn=CHILDREN, start, kill
//
// Prints, before it is killed too, one line: {"NAME": LAUNCHES, ...} of its own kernels and those of the processes that it
// starts, by their mangled names.
#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define GPU(name) hip##name
#else
#include <cuda_runtime.h>
#define GPU(name) cuda##name
#endif
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

extern "C" __global__ void known_plain() {}
template <int N> __global__ void known_shape(int *) {}

static const char *const NAMES[] = {"known_plain", "_Z11known_shapeILi2EEvPi", "_Z11known_shapeILi3EEvPi"};
static std::map<std::string, long> launches;

static void check(GPU(Error_t) error, const char *what) {
    if (error != GPU(Success)) {
        std::fprintf(stderr, "%s: %s\n", what, GPU(GetErrorString)(error));
        std::exit(1);
    }
}
#define CHECK(call) check(call, #call)

// The kernels in turn; what is counted is what the caller makes of it.
static void launch(long count, GPU(Stream_t) stream) {
    for (long i = 0; i < count; i++) {
        switch (i % 3) {
        case 0: known_plain<<<1, 1, 0, stream>>>(); break;
        case 1: known_shape<2><<<1, 1, 0, stream>>>(nullptr); break;
        default: known_shape<3><<<1, 1, 0, stream>>>(nullptr);
        }
        CHECK(GPU(GetLastError)());
    }
}

static void count(long launched, long times) {
    for (int kernel = 0; kernel < 3; kernel++) {
        long each = (launched + 2 - kernel) / 3 * times;
        if (each > 0) launches[NAMES[kernel]] += each;
    }
}

static void eager(long number) {
    GPU(Stream_t) stream;
    CHECK(GPU(StreamCreate)(&stream));
    launch(number, stream);
    CHECK(GPU(StreamSynchronize)(stream));
    CHECK(GPU(StreamDestroy)(stream));
}

static void graph(long nodes, long replays) {
    GPU(Stream_t) stream;
    GPU(Graph_t) graph;
    GPU(GraphExec_t) ready;
    CHECK(GPU(StreamCreate)(&stream));
    CHECK(GPU(StreamBeginCapture)(stream, GPU(StreamCaptureModeGlobal)));
    launch(nodes, stream);
    CHECK(GPU(StreamEndCapture)(stream, &graph));
    CHECK(GPU(GraphInstantiateWithFlags)(&ready, graph, 0));
    for (long i = 0; i < replays; i++) CHECK(GPU(GraphLaunch)(ready, stream));
    CHECK(GPU(StreamSynchronize)(stream));
    count(nodes, replays);
}

static void threads(long number, long each) {
    std::vector<std::thread> running;
    for (long t = 0; t < number; t++) running.emplace_back(eager, each);
    for (std::thread &thread : running) thread.join();
    count(each, number);
}

// Children are waited for; one that does not end well ends this program.
static void wait_for(long children) {
    for (long i = 0; i < children; i++) {
        int status = 0;
        if (wait(&status) < 0 || !WIFEXITED(status) || WEXITSTATUS(status) != 0) {
            std::fprintf(stderr, "a child ended with wait status %#x\n", status);
            std::exit(1);
        }
    }
}

static void children(long number, bool use_gpu) {
    for (long i = 0; i < number; i++)
        if (fork() == 0) {
            if (use_gpu) eager(30);
            std::fflush(stdout);
            if (use_gpu) std::exit(0);
            _exit(0);
        }
    wait_for(number);
    if (use_gpu) count(30, number);
}

static void spawn(long number) {
    for (long i = 0; i < number; i++)
        if (fork() == 0) {
            std::freopen("/dev/null", "w", stdout);
            execl("/proc/self/exe", "known", "eager=30", static_cast<char *>(nullptr));
            _exit(1);
        }
    wait_for(number);
    count(30, number);
}

static void tell() {
    const char *between = "{";
    for (const auto &[name, number] : launches) {
        std::printf("%s\"%s\": %ld", between, name.c_str(), number);
        between = ", ";
    }
    std::printf("%s}\n", launches.empty() ? "{" : "");
    std::fflush(stdout);
}

int main(int argc, char **argv) {
    for (int i = 1; i < argc; i++) {
        long first = 1, second = 1;
        std::string act = argv[i];
        size_t end = act.find('=');
        if (end != std::string::npos) std::sscanf(act.c_str() + end + 1, "%ld,%ld", &first, &second);
        act.resize(std::min(end, act.size()));
        if (act == "eager") eager(first), count(first, 1);
        else if (act == "graph") graph(first, second);
        else if (act == "threads") threads(first, second);
        else if (act == "fork") children(first, false);
        else if (act == "fork-gpu") children(first, true);
        else if (act == "spawn") spawn(first);
        else if (act == "start") {
            int devices = 0;
            CHECK(GPU(GetDeviceCount)(&devices));
        } else if (act == "kill") {
            tell();
            sleep(3);  // Several flush periods.
            kill(getpid(), SIGKILL);
        } else {
            std::fprintf(stderr, "no act %s\n", argv[i]);
            return 2;
        }
    }
    tell();
}
