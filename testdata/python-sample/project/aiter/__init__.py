"""The second watched package, as a library of kernels is."""

from aiter.ops import dot

__all__ = ["dot"]
