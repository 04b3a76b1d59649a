# ruff: noqa: ARG002  (models take what they don't use)
"""Models that harm the process they run in, each in one way."""

import ctypes
import os
import sys
import threading
import time
from pathlib import Path

import torch
from torch import nn

kept = []


class Good(nn.Module):
    """Harms nobody. Its graph shows where the global things it depends on are not as they should be."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        rate = torch.zeros(()) + len(os.environ.get("HOSTILE", ""))
        return torch.nn.functional.relu(self.linear(x.to(rate.dtype))) * rate


class SystemExits(Good):
    def forward(self, x):
        sys.exit("good bye")


class Exits(Good):
    def forward(self, x):
        os._exit(3)


class Crashes(Good):
    def forward(self, x):
        ctypes.string_at(0)


class Kills(Good):
    """Nobody can tell where it was."""

    def forward(self, x):
        os.kill(os.getpid(), 9)


class Forks(Good):
    """The child goes on with what is its parent's business."""

    def forward(self, x):
        if os.fork():
            os.wait()
            return super().forward(x)
        raise RuntimeError("in the child")


class ForksAndExits(Good):
    """The child lives on, and is not what anybody waits for."""

    def forward(self, x):
        child = os.fork()
        if child == 0:
            time.sleep(600)
        print(child, flush=True)
        os._exit(4)


class StartsThreads(Good):
    def forward(self, x):
        threading.Thread(target=time.sleep, args=[600]).start()
        return super().forward(x)


class Prints(Good):
    def forward(self, x):
        for _ in range(100):
            print("noise " * 10_000)
        return super().forward(x)


class Reads(Good):
    def forward(self, x):
        return super().forward(x) * int(input("How often? "))


class ChangesDirectory(Good):
    """As the next two, where it is made: what a forward does so is put back."""

    def __init__(self):
        super().__init__()
        os.chdir(Path.cwd().anchor)


class PatchesTorch(Good):
    def __init__(self):
        super().__init__()
        torch.nn.functional.relu = torch.tanh


class Leaks(Good):
    """Within the limit, but for ever."""

    def __init__(self):
        super().__init__()
        kept.append(bytearray(1_100_000_000))


class TakesAll(Good):
    def forward(self, x):
        while True:
            kept.append(bytearray(50_000_000))


class Interrupts(Good):
    def forward(self, x):
        raise KeyboardInterrupt


class RaisesItsOwn(Good):
    def __init__(self):
        class Stop(BaseException):
            pass

        raise Stop("no more")


class Sleeps(Good):
    def forward(self, x):
        time.sleep(600)
