"""Random models that do harm, and checks of their pages."""

from __future__ import annotations

import itertools
import random
import re
import sys
import tempfile
import textwrap
from pathlib import Path

import markdown

from modeldiagrams.engine.builder import DiagramBuilder
from modeldiagrams.hosting.host import prefetch
from modeldiagrams.markdown.fence import ModelDiagramsExtension
from modeldiagrams.markdown.fence_host import FenceHost

__all__ = ["SECRET", "check"]

SECRET = ("HOSTILE_TOKEN", "hunter2-xyzzy-42")
"""An environment variable that models print."""

_RAISED = (
    "raise ValueError('plain')",
    "raise ValueError('\\x1b[31mred\\x07\\b\\x00' + 'long ' * 30_000)",
    "raise OSError(os.path.abspath('weights.bin'), os.environ['HOSTILE_TOKEN'])",
    "raise ValueError(os.fsdecode(b'weights-\\xff.bin'))",
    "raise type('E' * 100_000, (Exception,), {})('long name')",
    "raise type('Mute', (Exception,), {'__str__': lambda self: 1 / 0})()",
    "raise type('Odd', (BaseException,), {'__module__': 3})(sys.executable, Path.home() / 'x' / 'y')",
    "raise SystemExit(os.environ['HOSTILE_TOKEN'])",
    "raise KeyboardInterrupt",
    "raise ExceptionGroup('several', [ValueError(1), OSError(2)])",
    "raise MemoryError",
    "raise type('Deep', (Exception,), {'__str__': lambda self: self.__str__()})()",
    "raise type('Ends', (Exception,), {'__repr__': lambda _: os._exit(4), '__str__': lambda _: '\\ud800' * 9999})()",
    "raise type('Liar', (Exception,), {'__class__': property(lambda self: 1 / 0)})()",
    "error = ValueError('loop'); error.__cause__ = error.__context__ = error; raise error",
    "raise ValueError(*range(10**6))",
    "raise UnicodeDecodeError('utf8', bytes(range(256)) * 9, 1, 2, os.environ['HOSTILE_TOKEN'])",
    "raise SyntaxError('bad', (os.path.abspath('x.py'), 3, 4, '\\x07' * 9999))",
    "raise StopIteration(os.getcwd())",
    "raise BaseExceptionGroup('several', [SystemExit(3), KeyboardInterrupt()])",
    "raise ImportError('no', name=os.environ['HOSTILE_TOKEN'], path=os.getcwd())",
)
_DEADLY = (
    "print(os.environ, os.getcwd(), '\\x1b[2J\\x07', flush=True); os._exit(3)",
    "os.kill(os.getpid(), signal.SIGKILL)",
    "os.kill(os.getppid(), signal.SIGKILL); time.sleep(9)",
    "os.kill(os.getpid(), signal.SIGSTOP)",
    "os.killpg(os.getpgrp(), signal.SIGTERM)",
    "os.abort()",
    "ctypes.string_at(0)",
    "sys.setrecursionlimit(10**9); (lambda f: f(f))(lambda f: [f(f)])",
    "time.sleep(600)",
    "while True: pass",
    "signal.alarm(1); time.sleep(2)",
    "kept.append([bytearray(10**8) for _ in range(100)])",
)
_HARMFUL = (
    "json.loads = json.dumps = json.JSONDecoder = None",
    "builtins.open = builtins.len = builtins.isinstance = lambda *_: 1 / 0",
    "msgspec.msgpack.encode = lambda *_: b'nonsense'",
    "sys.modules.clear()",
    "sys.modules['modeldiagrams.ir.serialize'] = sys.modules['torch'] = None",
    "sys.path.clear(); sys.meta_path.clear()",
    "threading.excepthook = None; threading.settrace(lambda *_: 1 / 0)",
    "sys.settrace(lambda *_: 1 / 0)",
    "sys.stdout = sys.stderr = None",
    "warnings.simplefilter('error')",
    "logging.disable(); logging.raiseExceptions = 3",
    "os.environ.clear()",
    "os.chdir('/')",
    "gc.disable(); sys.setrecursionlimit(60)",
    "torch.set_default_dtype(torch.float64); torch.set_grad_enabled(False); torch.set_default_device('meta')",
    "torch.Tensor.__add__ = torch.Tensor.__mul__ = nn.Linear.forward = lambda *_: 3",
    "nn.Module.__call__ = nn.Module.named_modules = lambda *_: 1 / 0",
    "[os.set_blocking(number, False) for number in range(9)]",
    "os.closerange(0, 99)",
    "[os.write(number, b'nonsense' * 99) for number in range(1, 9) if os.path.exists(f'/proc/self/fd/{number}')]",
    "print('\\x1b[2J\\x07' + os.environ.get('HOSTILE_TOKEN', '') * 9999)",
    "threading.Thread(target=time.sleep, args=[600]).start()",
    "subprocess.Popen(['sleep', '600'], start_new_session=True)",
    "os.fork() or time.sleep(600)",
    "os.fork() or os.setsid() or os.fork() or time.sleep(600)",
    "signal.signal(signal.SIGTERM, signal.SIG_IGN); faulthandler.disable(); faulthandler.cancel_dump_traceback_later()",
    "random.seed(1); torch.manual_seed(1)",
    "torch.nn.functional.linear = torch.tanh",
    "os.setuid = os._exit = os.getpid = lambda *_: 0",
    "atexit.register(time.sleep, 600)",
    "sys.setprofile(lambda *_: 1 / 0)",
    "sys.excepthook = sys.unraisablehook = sys.getrefcount = sys.exc_info = sys._getframe = None",
    "torch.overrides.TorchFunctionMode.__enter__ = torch.utils._python_dispatch.TorchDispatchMode.__enter__ = None",
    "print('x' * 10**8)",
    "threading.Thread(target=lambda: [print(os.environ, flush=True) for _ in iter(int, 1)], daemon=True).start()",
    "open('/dev/stderr', 'wb').write(bytes(range(256)) * 99)",
    "builtins.__import__ = lambda *_, **__: 1 / 0",
    "type.__setattr__(nn.Linear, '__getattribute__', lambda *_: 1 / 0)",
    "sys.stdout.write = sys.stderr.write = lambda *_: 1 / 0",
    "msgspec.Struct.__init__ = msgspec.structs.replace = msgspec.structs.asdict = None",
    "time.monotonic = time.process_time = time.sleep = lambda *_: -1e300",
    "sys.path_hooks.append(lambda _: 1 / 0); sys.path_importer_cache.clear(); sys.path.insert(0, 3)",
    "os.rename(__file__, __file__ + '.gone')",
    "[vars(sys.modules['modeldiagrams.tracer.forward_pass']).update({name: None}) for name in dir(torch)]",
    "vars(sys.modules['modeldiagrams.worker.protocol']).update(send=None, receive=None, Traced=None, Refused=None)",
    "sys.modules['inspect'].signature = sys.modules['inspect'].getsource = lambda *_, **__: 1 / 0",
    "sys.modules['linecache'].getline = sys.modules['linecache'].getlines = lambda *_: ['\\x07' * 10**6]",
)
_SHOWN = (
    "self.add_module('constructor', nn.Linear(4, 4))",
    "self.add_module('__proto__', nn.Linear(4, 4))",
    "self.add_module('</script><b>', nn.Linear(4, 4))",
    "self.add_module(os.fsdecode(b'\\xff\\xfe'), nn.Linear(4, 4))",
    "self.add_module('\\x1b[31m\\x07\\u202e', nn.Linear(4, 4))",
    "self.add_module('long' * 5000, nn.Linear(4, 4))",
    "type(self).__name__ = type(self).__qualname__ = 'N' * 50_000",
    "type(self).__module__ = 3",
    "type(self).extra_repr = lambda self: os.getcwd() + os.environ['HOSTILE_TOKEN'] + '\\x1b[31m'",
    "self.path = os.path.abspath(__file__); type(self).extra_repr = lambda self: f'path={self.path!r}'",
    "type(self).extra_repr = lambda self: 'x' * 10**6 + ',' + '\\x00' * 10**6",
    "type(self).extra_repr = lambda self: 3",
    "type(self).__doc__ = '\\x1b[31m' + os.environ['HOSTILE_TOKEN'] + os.getcwd() * 999",
    "self.register_buffer('b' * 20_000, torch.ones(4)); self.register_parameter('\\x07\\udcff', self.first.bias)",
    "self.register_forward_hook(lambda *given: dict.fromkeys(['k' * 30_000, 3, '\\x1b\\udcff', None], given[2]))",
    "self.register_forward_hook(lambda *given: iter(lambda: given[2], None))",
    "kept.append(kept); self.register_forward_hook(lambda *_: kept)",
    "self.odd = type('Odd', (), dict.fromkeys(['__eq__', '__hash__', '__bool__', '__repr__'], lambda *_: 1 / 0))()",
    "type(self).named_parameters = lambda self, *_, **__: 1 / 0",
    "type(self).parameters = lambda self, *_, **__: iter(lambda: torch.ones(1), None)",
    "type(self).__setattr__ = type(self).__delattr__ = lambda *_: 1 / 0",
    "self._modules['first'] = 3",
    "self._parameters['x'] = 'nonsense'; self._buffers[3] = torch.ones(1)",
    "self.forward.__func__.__qualname__ = '\\x07' * 9999; self.forward.__func__.__module__ = 7",
    "torch.autograd.profiler.record_function('\\x1b\\x00' * 5000).__enter__()",
)
_ACTS = (*_RAISED, *_DEADLY, *_HARMFUL, *_HARMFUL, *_SHOWN, *_SHOWN)
_PLACES = ("import", "init", "forward", "repr", "del", "thread", "exit", "metaclass", "getattr", "hook")

_MODULE = """
import atexit, builtins, ctypes, faulthandler, gc, json, logging, os, random, signal, subprocess, sys, threading, time
import warnings
from pathlib import Path
import msgspec, torch
from torch import nn
{module}
kept = []

class Meta(type):
    def __getattribute__(self, name):
        if name in ("__module__", "__qualname__", "__mro__", "__doc__"):
{metaclass}
        return super().__getattribute__(name)

class Net(nn.Module{bases}):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(4, 4)
{init}

    def forward(self, x):
        x = self.first(x)
{forward}
        for name, module in list(self.named_children())[1:]:
            x = module(x)
        return x
{methods}
"""
_HEALTHY = """
import os
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(4, {width}), nn.ReLU(), nn.Linear({width}, 4))

    def forward(self, x):
        return torch.cat([self.layers(x) + x, torch.zeros(1, len(os.environ.get("HOSTILE_TOKEN", "")))], 1)
"""
_EVERY = 5
"""Hostile models for each healthy one."""
_METHOD = "    def {name}(self, *args):\n{body}\n        return {result}\n"


def source(seed: int) -> str:
    """The Python module of one model: `Net`, which takes one tensor of four numbers, or would."""
    rng = random.Random(seed)  # noqa: S311  (cases, not secrets)
    acts: dict[str, list[str]] = {}
    for _ in range(rng.randint(1, 3)):
        act = rng.choice(_ACTS)
        place = rng.choice(["init", "forward"] if act in _SHOWN else _PLACES)
        acts.setdefault("init" if act in _SHOWN else place, []).append(act)
    init, methods = list(acts.get("init", [])), ""
    if "thread" in acts:
        methods += _METHOD.format(name="run", body=_lines(acts["thread"]), result="None")
        init += ["threading.Thread(target=self.run).start()"]
    if "exit" in acts:
        methods += _METHOD.format(name="end", body=_lines(acts["exit"]), result="None")
        init += ["atexit.register(self.end)"]
    if "hook" in acts:
        methods += _METHOD.format(name="look", body=_lines(acts["hook"]), result="None")
        init += ["self.first.register_forward_hook(self.look)"]
    for place, name, result in (("repr", "extra_repr", "''"), ("del", "__del__", "None")):
        if place in acts:
            methods += _METHOD.format(name=name, body=_lines(acts[place]), result=result)
    if "getattr" in acts:
        body = "        if '_' not in args[0]:\n" + _lines(acts["getattr"], 12)
        methods += _METHOD.format(name="__getattr__", body=body, result="super().__getattr__(*args)")
    return _MODULE.format(
        module="\n".join(acts.get("import", [])),
        metaclass=_lines(acts.get("metaclass", []), 12),
        bases=", metaclass=Meta" if "metaclass" in acts else "",
        init=_lines(init),
        forward=_lines(acts.get("forward", [])),
        methods=methods,
    )


def _lines(statements: list[str], indent: int = 8) -> str:
    return textwrap.indent("\n".join(statements) or "pass", " " * indent)


def assert_publishable(page: str, folder: Path) -> None:
    """A page, or a warning, has nothing of the machine, nothing secret, and no control characters."""
    for root in (folder, tempfile.gettempdir(), Path.home(), Path.cwd(), sys.prefix, sys.base_prefix):
        assert f"{root}/" not in page
    assert SECRET[1] not in page
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]", page)


class _Host(FenceHost):
    """Notes the warnings of each page."""

    def __init__(self, builder: DiagramBuilder) -> None:
        super().__init__(builder)
        self.page = ""
        self.warnings: list[str] = []

    def location(self, line):
        return f"{self.page}.md:{line}: "

    def warn(self, message, line, _kind=""):
        self.warnings.append(f"{self.location(line)}{message}")


def build(folder: Path, models: list[str]) -> tuple[dict[str, str], list[str]]:
    """Build a page for each model, as documentation tools do; its HTML by model, and all warnings."""
    texts = {
        model: f"# Page\n\n```model-graph\nmodel: {model}\ninputs: [1, 4]\n{limits(model)}```\n" for model in models
    }
    with DiagramBuilder(None, folder=folder, paths=[folder]) as builder:
        host = _Host(builder)
        prefetch(builder, host.settings, texts.values())
        pages = {}
        for host.page, text in texts.items():
            pages[host.page] = markdown.markdown(text, extensions=[ModelDiagramsExtension(host=host)])
    return pages, host.warnings


def limits(model: str) -> str:
    """Of hostile models only: healthy ones may take long on a busy machine."""
    return "timeout: 5\nmemory: 2\n" if model.startswith("hostile") else ""


def check(folder: Path, seeds: range) -> None:
    """Build healthy models among hostile ones, and see that nobody notices."""
    healthy = []
    for seed in seeds:
        (folder / f"hostile{seed}.py").write_text(source(seed))
        (folder / f"healthy{seed}.py").write_text(_HEALTHY.format(width=4 + seed))
        healthy += [f"healthy{seed}.Net"] if seed % _EVERY == 0 else []
    hostile = [f"hostile{seed}.Net" for seed in seeds]
    together = [model for pair in itertools.zip_longest(hostile[::_EVERY], healthy) for model in pair if model]
    models = list(dict.fromkeys([*together, *hostile, *healthy]))
    pages, warnings = build(folder, models)
    alone, none = build(folder, healthy)
    assert none == []
    assert {model: pages[model] for model in healthy} == alone
    for model in hostile:
        assert_publishable(pages[model], folder)
        assert "Traceback (most recent" not in pages[model]
        assert not re.search(r"modeldiagrams/\w+/\w+\.py", pages[model])
    for warning in warnings:
        assert_publishable(warning, folder)
        model = warning.partition(".md:")[0]
        assert model in hostile
        assert len(warning) <= 1000
        assert model in warning.partition(": model-graph: ")[2]
