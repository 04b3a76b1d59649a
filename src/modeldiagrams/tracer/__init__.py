"""The tracer: one forward pass of a PyTorch model, recorded.

Interception is by torch's own protocol (a function mode) and by replacing a few methods for the time of one trace,
undone whatever happens. See `run` for the pipeline, `recorder` for what is written down, `finish` for the graph.

What it does not tell:

- Where a Python number read off a tensor (``x.item()``) goes: the read is an op, what is computed with the
  number has no edge from it. Numbers carry no mark, equal ones are common, and without arithmetic they are guesses.
- That a module handed on its input unchanged after it had read it: the value then flows past the module, as it does.
- An `torch.autograd.Function` whose forward calls modules as one op: it shows the modules instead.
- What other threads compute outside of modules: it comes from nowhere (`Status.unseen`).
- What an inner module's forward that yields computes as inside of it: it runs when the caller asks for more.
- What numpy writes into memory that it shares with a tensor: the tensor is drawn with what torch wrote last. And where
  comes from what is read from a file or unpickled in the forward: it is drawn as made there.
- Functions with `functools.lru_cache` of installed packages other than those where the model's classes are written.
- Without costs: operators that C++ extensions run.
"""

from modeldiagrams.tracer.run import Mode, Trace, trace, trace_run

__all__ = ["Mode", "Trace", "trace", "trace_run"]
