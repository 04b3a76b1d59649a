"""Tensor classes as users write them."""

import torch
from torch.utils._pytree import tree_map_only


class Plain(torch.Tensor):
    """Changes nothing."""


class Wrapper(torch.Tensor):
    """A class with ``__torch_dispatch__`` that says nothing of the tensor inside."""

    @staticmethod
    def __new__(cls, inner):
        return torch.Tensor._make_wrapper_subclass(cls, inner.shape, dtype=inner.dtype)

    def __init__(self, inner):
        self.inner = inner

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        args, kwargs = tree_map_only(cls, lambda wrapper: wrapper.inner, (args, kwargs or {}))
        result = func(*args, **kwargs)
        if func._schema.is_mutable:
            return next(wrapper for wrapper in ALIVE if wrapper.inner is args[0])
        return tree_map_only(torch.Tensor, cls, result)


ALIVE = []


def wrap(inner):
    ALIVE[:] = [Wrapper(inner)]
    return ALIVE[0]
