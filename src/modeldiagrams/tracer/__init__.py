"""The tracer: one forward pass of a PyTorch model, recorded.

Interception is by torch's own protocol (a function mode) and by replacing a few methods for the time of one trace,
undone whatever happens. See `run` for the pipeline, `recorder` for what is written down, `finish` for the graph.

What it does not tell:

- Where a Python number read off a tensor (``x.item()``) goes once Python has computed with it: an op that takes the
  number as it is has an edge from the read, one that takes ``2 * number`` has none. Nor has one that takes a small
  whole number or a truth value, of which Python has one object wherever they come from.
- That a module handed on its input unchanged after it had read it: the value then flows past the module, as it does.
- A `torch.autograd.Function` whose forward calls modules as one op: it shows the modules, and is an op after them where
  it returns more than they do.
- What threads compute outside of modules that were started before the trace, apart from jobs of pools: it comes from
  nowhere (`Status.unseen`).
- What an inner module's forward that yields computes as inside of it: it runs when the caller asks for more.
- What numpy writes into memory that it shares with a tensor: the tensor is drawn with what torch wrote last.
- Where what is read from a file, unpickled or taken from a DLPack capsule (``to_dlpack(x)``) comes from: it is drawn as
  made there.
- Functions with `functools.lru_cache` of installed packages other than those where the model's classes are written.
- Without costs: operators that C++ extensions run.
"""

from modeldiagrams.tracer.run import Mode, Trace, trace, trace_run

__all__ = ["Mode", "Trace", "trace", "trace_run"]
