"""A package of the name that the recorder watches, small enough to know every function of it."""

from vllm.engine import Engine

__all__ = ["Engine"]
