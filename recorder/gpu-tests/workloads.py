"""The programs that are recorded. `workloads.py NAME [FACTS]`: with FACTS, torch.profiler's view of the
whole program's kernels is written there as {name: count}, and nothing else may use CUPTI."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time


def tiny():
    import torch

    x = torch.arange(4096, device="cuda", dtype=torch.float32)
    for _ in range(10):
        y = (x * 2 + 1).relu().sum()
    torch.cuda.synchronize()
    return float(y)


def train(steps=20):
    import torch

    torch.manual_seed(0)
    model = torch.nn.Sequential(
        torch.nn.Conv2d(3, 16, 3, padding=1),
        torch.nn.BatchNorm2d(16),
        torch.nn.ReLU(),
        torch.nn.Flatten(),
        torch.nn.Linear(16 * 32 * 32, 10),
    ).cuda()
    optimizer = torch.optim.Adam(model.parameters())
    data = torch.randn(32, 3, 32, 32, device="cuda")
    target = torch.randint(0, 10, (32,), device="cuda")
    for _ in range(steps):
        optimizer.zero_grad()
        torch.nn.functional.cross_entropy(model(data), target).backward()
        optimizer.step()
    torch.cuda.synchronize()


def attention():
    import torch
    from torch.nn.attention import SDPBackend, sdpa_kernel

    q, k, v = (torch.randn(2, 8, 256, 64, device="cuda", dtype=torch.float16) for _ in range(3))
    for backend in (SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
        with sdpa_kernel(backend):
            for _ in range(5):
                torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
    torch.cuda.synchronize()


def graphs(replays=100):
    import torch

    x = torch.randn(128, 128, device="cuda")
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        for _ in range(3):
            (x @ x).relu().mul(0.5).softmax(-1)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        (x @ x).relu().mul(0.5).softmax(-1)
    for _ in range(replays):
        graph.replay()
    torch.cuda.synchronize()


def triton_kernel():
    import torch
    import triton_add

    x = torch.randn(10_000, device="cuda")
    out = torch.empty_like(x)
    for _ in range(5):
        triton_add.add(x, x, out)
    torch.cuda.synchronize()
    assert torch.equal(out, x + x)


def compiled():
    import torch

    @torch.compile
    def f(x):
        return (x.sin() * x.cos()).sum(-1)

    x = torch.randn(256, 256, device="cuda")
    for _ in range(3):
        f(x)
    torch.cuda.synchronize()


def children():
    tiny()
    for _ in range(3):
        subprocess.run([sys.executable, __file__, "tiny"], check=True)


def pool_work(_):
    return tiny()


def spawn_pool():
    tiny()
    pool = multiprocessing.get_context("spawn").Pool(3)
    pool.map(pool_work, range(6), chunksize=2)
    pool.close()
    pool.join()


def fork_worker():
    """CUDA used in forked children only: each starts its own, and multiprocessing ends it with os._exit."""
    children = [multiprocessing.get_context("fork").Process(target=tiny) for _ in range(2)]
    for child in children:
        child.start()
    for child in children:
        child.join()


def data_loader():
    import torch

    tiny()
    loader = torch.utils.data.DataLoader(list(range(64)), batch_size=8, num_workers=2)
    assert sum(len(batch) for batch in loader) == 64
    tiny()


def killed():
    tiny()
    time.sleep(2.5)  # Two flush periods.
    os.kill(os.getpid(), signal.SIGKILL)


def killed_worker():
    """A worker is killed; the program itself goes on and ends well."""
    worker = subprocess.Popen([sys.executable, __file__, "killed"])
    assert worker.wait() == -signal.SIGKILL
    tiny()


def terminated():
    tiny()
    time.sleep(2.5)
    os.kill(os.getpid(), signal.SIGTERM)


def idle():
    import torch

    torch.cuda.init()
    torch.cuda.synchronize()
    time.sleep(1.5)


def import_killed():
    import torch

    assert torch.version
    os.kill(os.getpid(), signal.SIGKILL)


def many_threads():
    import torch

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            x = torch.ones(1024, device="cuda")
            for _ in range(2000):
                x = x + 1
        torch.cuda.synchronize()

    threads = [threading.Thread(target=work) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def device_events(profile):
    """The kernels of a profile, {name: count}."""
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        profile.export_chrome_trace(file.name)
        with open(file.name) as trace:
            events = json.load(trace)["traceEvents"]
    counts = {}
    for event in events:
        if event.get("cat") == "kernel":
            counts[event["name"]] = counts.get(event["name"], 0) + 1
    return counts


def new_profile():
    from torch.profiler import ProfilerActivity, profile

    return profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])


def operations(x, count=10):
    import torch

    for _ in range(count):
        y = x @ x + 1
    torch.cuda.synchronize()
    return y


def profiler():
    """The profiler around 10 of 30 operations; prints what it saw."""
    import torch

    x = torch.randn(256, 256, device="cuda")
    operations(x)
    with new_profile() as profile:
        operations(x)
    operations(x)
    print(json.dumps(device_events(profile), sort_keys=True))


def profiler_twice():
    import torch

    x = torch.randn(256, 256, device="cuda")
    for _ in range(2):
        operations(x)
        with new_profile() as profile:
            operations(x)
        print(json.dumps(device_events(profile), sort_keys=True))


def profiler_first():
    """The profiler starts before CUDA does."""
    import torch

    with new_profile() as profile:
        operations(torch.randn(256, 256, device="cuda"))
    print(json.dumps(device_events(profile), sort_keys=True))


def profiler_under_load():
    """The profiler starts and stops while other threads launch."""
    import torch

    x = torch.randn(256, 256, device="cuda")
    stop = threading.Event()

    def work():
        with torch.cuda.stream(torch.cuda.Stream()):
            while not stop.is_set():
                operations(x, 50)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    time.sleep(0.3)
    for _ in range(3):
        with new_profile() as profile:
            time.sleep(0.2)
        counts = device_events(profile)
        assert sum(counts.values()) > 100, counts
    stop.set()
    for thread in threads:
        thread.join()
    print("three profiles")


def jax_profiler():
    """A client that takes CUPTI's functions from its handle."""
    import glob
    import gzip

    os.environ["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"
    import jax
    import jax.numpy as jnp

    f = jax.jit(lambda a: (a @ a).sum())
    a = jnp.ones((256, 256))
    for _ in range(5):
        f(a).block_until_ready()
    folder = tempfile.mkdtemp()
    with jax.profiler.trace(folder):
        for _ in range(5):
            f(a).block_until_ready()
    f(a).block_until_ready()
    (trace,) = glob.glob(folder + "/**/*.trace.json.gz", recursive=True)
    with gzip.open(trace) as file:
        events = json.load(file)["traceEvents"]
    devices = {e["pid"] for e in events if e.get("ph") == "M" and "/device:GPU" in str(e.get("args"))}
    names = {e["name"] for e in events if e.get("ph") == "X" and e.get("pid") in devices}
    print(json.dumps(sorted(names)))


def proton_profiler():
    """Triton's profiler, which maps a CUPTI of its own."""
    import torch
    import triton.profiler as proton

    x = torch.randn(256, 256, device="cuda")
    operations(x)
    path = tempfile.mkdtemp() + "/proton"
    session = proton.start(path, context="shadow")
    operations(x)
    proton.finalize(session)
    with open(path + ".hatchet") as file:
        tree = json.load(file)
    names = {}

    def walk(node):
        count = node.get("metrics", {}).get("count")
        if count:
            names[node["frame"]["name"]] = count
        for child in node.get("children", []):
            walk(child)

    walk(tree[0])
    print(json.dumps(names, sort_keys=True))


def turns(step, seconds=0.5):
    """For each line on standard input, runs steps for a while and prints the median time of one."""
    for _ in range(20):
        step()
    for _ in sys.stdin:
        times = []
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            start = time.monotonic()
            step()
            times.append(time.monotonic() - start)
        print(sorted(times)[len(times) // 2], flush=True)


def training_loop(batch):
    """Training of a small transformer: launch-bound with a batch of 16, bound by the GPU with 96."""
    import torch

    torch.manual_seed(0)
    layer = torch.nn.TransformerEncoderLayer(1024, 16, 4096, batch_first=True)
    model = torch.nn.TransformerEncoder(layer, 8).cuda().bfloat16()
    optimizer = torch.optim.AdamW(model.parameters(), fused=True)
    data = torch.randn(int(batch), 512, 1024, device="cuda", dtype=torch.bfloat16)

    def step():
        optimizer.zero_grad(set_to_none=True)
        model(data).float().pow(2).mean().backward()
        optimizer.step()
        torch.cuda.synchronize()

    turns(step)


def decode_loop(batch):
    """Replays of one captured step of a small decoder, as a server does."""
    import torch

    torch.manual_seed(0)
    layers = torch.nn.ModuleList(torch.nn.Linear(4096, 4096, bias=False) for _ in range(24)).cuda().half()
    x = torch.randn(int(batch), 4096, device="cuda", dtype=torch.half)

    def forward():
        y = x
        for layer in layers:
            y = torch.nn.functional.rms_norm(y + torch.nn.functional.silu(layer(y)), (4096,))
        return y

    with torch.no_grad():
        side = torch.cuda.Stream()
        with torch.cuda.stream(side):
            forward()
        torch.cuda.current_stream().wait_stream(side)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            forward()

    def step():
        for _ in range(20):
            graph.replay()
            torch.cuda.current_stream().synchronize()

    turns(step)


def with_facts(work, path):
    import torch

    torch.cuda.init()
    with new_profile() as profile:
        work()
    with open(path, "w") as file:
        json.dump(device_events(profile), file)


if __name__ == "__main__":
    work = globals()[sys.argv[1]]
    if sys.argv[1].endswith("_loop"):
        work(sys.argv[2])
    elif len(sys.argv) > 2:
        with_facts(work, sys.argv[2])
    else:
        work()
