"""The tracer: records one forward pass of a PyTorch model.

It sees torch calls by torch's own protocol (a function mode) and replaces a few methods during a trace, listed in
`patches.table`. See `run` for the pipeline, `recording.recorder` for what is recorded, `graph.build_graph` for the
graph, and `restore` for what a trace restores.

Limits:

- A Python number read from a tensor (``x.item()``) is not followed: an op that takes it has no edge from the read.
- A module that reads its input and then returns it unchanged: the value flows past the module.
- A `torch.autograd.Function` whose forward calls modules: the graph shows the modules, and one op after them if the
  function returns more than they do.
- Threads outside of pools that were started before the trace: what they compute outside of modules has no origin
  (`Status.unseen`).
- Generators as forwards of inner modules: they run outside of the module call, when the caller asks for items.
- Writes by numpy to memory that it shares with a tensor: the tensor keeps the value that torch wrote last.
- Tensors read from a file, unpickled, or taken from a DLPack capsule (``to_dlpack(x)``) look as if made there.
- `functools.lru_cache` in installed packages, except those that define the model's classes, is not emptied.
- Operators run by C++ extensions are seen only with costs.
- Ops of several threads are recorded in the order in which they arrive.
"""

from modeldiagrams.tracer.fake.attempts import Mode
from modeldiagrams.tracer.run import Trace, trace, trace_run

__all__ = ["Mode", "Trace", "trace", "trace_run"]
