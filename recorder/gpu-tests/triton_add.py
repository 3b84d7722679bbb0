"""A Triton kernel; Triton reads its source, so it needs a file."""

import triton
import triton.language as tl


@triton.jit
def kernrec_demo_add(x, y, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at, mask=at < n) + tl.load(y + at, mask=at < n), mask=at < n)


def add(x, y, out):
    n = x.numel()
    kernrec_demo_add[(triton.cdiv(n, 1024),)](x, y, out, n, BLOCK=1024)
