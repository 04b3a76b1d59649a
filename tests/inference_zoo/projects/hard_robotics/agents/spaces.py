import numpy as np


class Box:
    def __init__(self, low, high, shape=None, dtype=np.float32):
        self.shape = tuple(shape) if shape is not None else np.shape(low)
        self.low, self.high = np.full(self.shape, low, dtype), np.full(self.shape, high, dtype)
        self.dtype = dtype


class Discrete:
    def __init__(self, n):
        self.n, self.shape = int(n), ()


class Dict:
    def __init__(self, spaces):
        self.spaces = dict(spaces)

    def __getitem__(self, key):
        return self.spaces[key]
