"""Every kind of code and data in which projects write how a class is made: what is read of it, and what is not.

Long because it is a list of cases, each with a small project of its own.
"""

from __future__ import annotations

import importlib
import json
import os
import sys
import textwrap
import time
from itertools import islice

import pytest

from modeldiagrams.target.inference.evidence import call_sites

OWN = """
class Block: ...
class Wide: ...
class Net:
    def __init__(self, dim, depth, block=None, rate=0.1): ...
class Whole:
    def __init__(self, cfg):
        self.width = cfg.width
"""


@pytest.fixture
def sites(tmp_path, monkeypatch):
    def read(files, name="Net", most=9):
        project = {"pyproject.toml": "", "shop/__init__.py": "", "shop/net.py": OWN, **files}
        for path, text in project.items():
            (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / path).write_text(textwrap.dedent(text))
        module = importlib.import_module("shop.net")
        return [*islice(call_sites(getattr(module, name)), most)]

    monkeypatch.syspath_prepend(tmp_path)
    importlib.invalidate_caches()
    yield read
    for name in [name for name in sys.modules if name.split(".")[0] == "shop"]:
        del sys.modules[name]


def lines(*parts):
    return "\n".join(parts)


IMPORT = "from shop.net import Net, Whole, Block, Wide\n"
FACTORIES = {
    "its own values": ("def small(): return Net(8, 2)", {"dim": 8, "depth": 2}),
    "more arguments": ("def small(**kw): return Net(8, 2, **kw)", {"dim": 8, "depth": 2}),
    "defaults": ("@register_model\ndef small(dim=8, *, depth=3): return Net(dim, depth)", {"dim": 8, "depth": 3}),
    "a common one": (
        (
            "def _net(arch, block, depth, **kw): return Net(4, depth, block, **kw)\n"
            "def small(pretrained=False, **kw): return _net('small', Wide, 3, rate=0.5, **kw)"
        ),
        {"dim": 4, "depth": 3, "block": {"_object_": "shop.net.Wide"}, "rate": 0.5},
    ),
    "a registry": (
        "MODELS = {'small': dict(dim=8, depth=2)}\ndef build(name): return Net(**MODELS[name])",
        {"dim": 8, "depth": 2},
    ),
    "a registry, by a key": (
        (
            "MODELS = {'small': dict(dim=8, depth=2), 'big': dict(dim=9, depth=2)}\n"
            "def build(name): return Net(**MODELS[name])\nbuild('big')"
        ),
        {"dim": 9, "depth": 2},
    ),
    "a registry's items": ("for name, kw in {'a': {'dim': 5, 'depth': 1}}.items(): Net(**kw)", {"dim": 5, "depth": 1}),
    "partial": ("from functools import partial\nsmall = partial(Net, 8, depth=2)", {"dim": 8, "depth": 2}),
    "a name in a configuration": ("model = dict(type='Net', dim=6, depth=1)", {"dim": 6, "depth": 1}),
    "a name in a mapping": ("model = {'name': 'Net', 'params': {'dim': 6, 'depth': 1}}", {"dim": 6, "depth": 1}),
    "a call of what returns it": ("def c():\n  return {'dim': 3, 'depth': 1}\nNet(**c())", {"dim": 3, "depth": 1}),
    "another name": ("from shop.net import Net as N\nN(3, 4)", {"dim": 3, "depth": 4}),
    "what pop takes out": (
        "kw = dict(depth=2, x=4)\nkw.pop('x')\nNet(5, **kw)",
        {"dim": 5, "depth": 2},
    ),
    "what pop takes out of arguments": (
        lines(
            "def make(**kw):\n  dim = kw.pop('width', 3)\n  return Net(dim, **kw)",
            "def small(): return make(width=4, depth=2)",
        ),
        {"dim": 4, "depth": 2},
    ),
    "names of other functions": (
        "def other(kw): kw.update(more)\ndef build(kw): return Net(**kw)\nbuild({'dim': 2, 'depth': 1})",
        {"dim": 2, "depth": 1},
    ),
    "its configuration": (
        (
            "class Config:\n  dim = 3\n  def __init__(self, depth=4): self.depth = depth\n"
            "def build(cfg): return Net(cfg.dim, cfg.depth)\nbuild(Config(5))"
        ),
        {"dim": 3, "depth": 5},
    ),
    "arithmetic": ("NAMES = ['a', 'b']\nNet(2 ** 3 * 4 + 1, len(NAMES) % 3)", {"dim": 33, "depth": 2}),
    "lists": ("Net([2] * 2 + [3], (1, 2)[1])", {"dim": [2, 2, 3], "depth": 2}),
    "unpacked names": ("a, b = 3, 4\nNet(a, b)", {"dim": 3, "depth": 4}),
}


@pytest.mark.parametrize("kind", FACTORIES)
def test_factories_and_registries(sites, kind):
    code, kwargs = FACTORIES[kind]
    assert sites({"factory.py": IMPORT + code})[0].kwargs == kwargs


COMMAND_LINES = {
    "click": lines(
        '@click.option("--dim", "-d", default=8)',
        '@click.option("--depth", default=2)',
        "def main(dim, depth): Net(dim, depth)",
    ),
    "typer": "def main(dim: int = typer.Option(8), depth: int = 2): Net(dim, depth)",
    "a function for fire": "def main(dim=8, depth=2): Net(dim, depth)\nfire.Fire(main)",
    "a class for fire": (
        "class Run:\n  depth = 2\n  def __init__(self, dim=8): self.dim = dim\n"
        "  def train(self): Net(self.dim, self.depth)\nfire.Fire(Run)"
    ),
    "argparse": (
        "p.add_argument('-d', '--dim', default=8)\np.add_argument('--depth', default=2)\n"
        "def main(args): Net(args.dim, args.depth)\nmain(p.parse_args())"
    ),
    "argparse as a mapping": (
        "p.add_argument('--dim', default=8)\np.add_argument('--depth', default=2)\nNet(**vars(p.parse_args()))"
    ),
    "pytest's parameters": lines(
        '@pytest.mark.parametrize("dim, depth", [(8, 2), (9, 3)])', "def test(dim, depth): Net(dim, depth)"
    ),
    "pytest's fixture": "@pytest.fixture\ndef kw(): return dict(dim=8, depth=2)\ndef test(kw): Net(**kw)",
}


@pytest.mark.parametrize("kind", COMMAND_LINES)
def test_defaults_of_command_lines_and_tests(sites, kind):
    assert sites({"main.py": IMPORT + COMMAND_LINES[kind]})[0].kwargs == {"dim": 8, "depth": 2}


def test_whole_command_line_is_cut_to_what_the_model_mentions(sites):
    options = "".join(f"p.add_argument('--o{i}', default={i})\n" for i in range(20))
    found = sites({"main.py": f"{IMPORT}p.add_argument('--width', default=5)\n{options}Whole(p.parse_args())"}, "Whole")
    assert found[0].kwargs == {"cfg": {"_target_": "types.SimpleNamespace", "width": 5}}
    assert len(found[1].kwargs["cfg"]) == 22


DATACLASS = """
from dataclasses import dataclass, field
raise RuntimeError("reading must not run this")
WIDTH = 6
@dataclass
class Encoder:
    width: int = WIDTH
    sizes: list = field(default_factory=lambda: [1, 2])
@dataclass
class Base:
    depth: int = 3
@dataclass
class Config(Base):
    encoder: Encoder = field(default_factory=Encoder)
    dim: int = field(default=7)
    names: list = field(default_factory=list)
"""


@pytest.mark.parametrize(
    "code",
    [
        "c = Config()\nNet(c.encoder.width, c.depth)",
        "def build(c: Config): return Net(c.encoder.width, c.depth)",
        "import shop.config as k\nNet(k.WIDTH, k.Config.depth)",
        "from shop.config import WIDTH\nNet(WIDTH, Config(depth=3).depth)",
    ],
)
def test_dataclasses_and_constants_of_other_files(sites, code, tmp_path):
    site, *_ = sites(
        {
            "shop/config.py": DATACLASS,
            "train.py": f"{IMPORT}from .shop.config import *\nfrom shop.config import Config\n{code}",
        }
    )
    assert site.kwargs == {"dim": 6, "depth": 3}
    assert "shop/config.py:" in site.places["dim"]
    assert str(tmp_path / "shop/config.py") in site.files
    assert "shop.config" not in sys.modules


def test_whole_dataclass_that_is_not_loaded_is_an_object_with_its_fields(sites):
    site, *_ = sites(
        {"shop/config.py": DATACLASS, "train.py": f"{IMPORT}from shop.config import Config\nWhole(Config(depth=1))"},
        "Whole",
    )
    encoder = {"_target_": "types.SimpleNamespace", "width": 6, "sizes": [1, 2]}
    assert site.kwargs["cfg"] == {
        "_target_": "types.SimpleNamespace",
        "depth": 1,
        "encoder": encoder,
        "dim": 7,
        "names": [],
    }


HYDRA = {
    "conf/config.yaml": lines(
        "defaults:",
        "  - model: small",
        "  - data: [a]",
        "  - optional extra: none",
        "  - override hydra/x: y",
        "classes: 5",
    ),
    "conf/model/small.yaml": lines(
        "# the small one",
        "_target_: shop.net.Net",
        "dim: ${classes}",
        "depth: ${.dim}",
        "block: {_target_: shop.net.Block}",
    ),
    "conf/model/big.yaml": "_target_: shop.net.Net\ndim: 1000\ndepth: 1e1\n",
}


def test_hydra(sites, tmp_path):
    small, big = sites(HYDRA)
    assert small.kwargs == {"dim": 5, "depth": 5, "block": {"_target_": "shop.net.Block"}}
    assert small.places == {
        "dim": "conf/model/small.yaml:3",
        "depth": "conf/model/small.yaml:4",
        "block": "conf/model/small.yaml:5",
    }
    assert str(tmp_path / "conf/config.yaml") in small.files
    assert big.kwargs == {"dim": 1000, "depth": 10.0}


@pytest.mark.parametrize(
    "value", ["${oc.env:HOME}", "${missing}", "???", "${.depth}${.dim}", "!!python/name:os.system"]
)
def test_values_that_only_a_run_would_tell_leave_a_configuration_unused(sites, value):
    assert sites({"conf/a.yaml": f"_target_: shop.net.Net\ndim: 3\ndepth: {value}\n"}) == []


READ = {
    "hydra": lines(
        '@hydra.main(config_path="conf", config_name="config")',
        'def main(cfg): Net(cfg.model.dim, cfg.model["depth"])',
    ),
    "OmegaConf": 'cfg = OmegaConf.load("conf/config.yaml")\nNet(**cfg.model)',
    "yaml": 'with open("conf/config.yaml") as file:\n    cfg = yaml.safe_load(file)\nNet(**cfg["model"])',
    "an option": lines(
        "p.add_argument('--config', default='conf/config.yaml')",
        "args = p.parse_args()",
        "cfg = yaml.load(open(args.config))",
        "Net(**cfg['model'])",
    ),
    "pathlib": 'Net(**yaml.safe_load(Path("conf/config.yaml").read_text())["model"])',
    "json": 'Net(**json.load(open("conf/config.json"))["model"])',
}
CONFIG = {
    "conf/config.yaml": "base: &base\n  depth: 2\nmodel:\n  <<: *base\n  dim: 8\n",
    "conf/config.json": '{\n\t"model": {\n\t\t"dim": 8,\n\t\t"depth": 2}}',
}


@pytest.mark.parametrize("kind", READ)
def test_files_that_code_reads(sites, kind):
    site, *_ = sites({"main.py": IMPORT + READ[kind], **CONFIG})
    assert site.kwargs == {"dim": 8, "depth": 2}
    assert any("conf/config." in place and "main.py:" in place for place in site.places.values())
    assert [file for file in site.files if "conf/config" in file]


def test_configuration_beside_the_class_counts_if_its_keys_are_its_parameters(sites):
    site, *rest = sites({"configs/a.yaml": "x: 1\nnet:\n  dim: 3\n  depth: 4\n  rate: 1e-1\n"})
    assert site.kwargs == {"dim": 3, "depth": 4, "rate": 0.1}
    assert site.places["depth"] == "configs/a.yaml:4"
    assert not rest


@pytest.mark.parametrize(
    "text",
    [
        "net: {dim: 3, depth: 4, lr: 1}",
        "net: {dim: 3}",
        "name: Other\ndim: 3\ndepth: 4",
        "- dim",
        "{",
        "dim: 3\ndepth: ${x}",
    ],
)
def test_other_configurations_do_not_count(sites, text):
    assert not sites({"configs/a.yaml": text})


@pytest.mark.parametrize(
    "code",
    [
        "cfg = dict(dim=3, depth=4)\ncfg['dim'] = load()\nNet(**cfg)",
        "cfg = dict(dim=3, depth=4)\ncfg.update(more)\nNet(**cfg)",
        "args = SimpleNamespace(dim=3)\nargs.dim = load()\nNet(args.dim, 2)",
        "dim = 3\ndef change():\n  global dim\n  dim = load()\nNet(dim, 2)",
        "def build(dim, depth): return Net(dim, depth)",
        "def build(dim=2, depth=3): return Net(dim, depth)\ndim = 1\nNet(**unknown())",
        "class C:\n  dim = load()\nNet(C.dim, 2)",
        "class C(Unknown):\n  dim = 2\nNet(C(), 2)",
        "Net(10 ** 10 ** 10, 2)",
        "Net('a' * 10 ** 9, 2)",
        "Net([0] * 10 ** 9, 2)",
        "a = a\nNet(a, 2)",
        "def f(x): return f(x)\nNet(f(1), 2)",
        "class A(A): ...\nNet(A().x, 2)",
    ],
)
def test_what_only_a_run_would_tell_is_no_evidence(sites, code):
    assert [site.kwargs for site in sites({"main.py": IMPORT + code})] in ([], [{"dim": 2, "depth": 3}])


def test_of_a_library_only_the_file_of_the_class_is_read(tmp_path, monkeypatch):
    files = {
        "pyproject.toml": "",
        "site-packages/shelf/__init__.py": "",
        "site-packages/shelf/net.py": f"{OWN}\ndef small(**kw): return Net(8, depth=2, **kw)\n",
        "site-packages/shelf/more.py": "Net(5, 6)",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.syspath_prepend(tmp_path / "site-packages")
    importlib.invalidate_caches()
    found = call_sites(importlib.import_module("shelf.net").Net)
    assert [(site.kwargs, site.place) for site in found] == [({"dim": 8, "depth": 2}, "shelf/net.py:10")]
    for name in ("shelf", "shelf.net"):
        del sys.modules[name]


def test_nothing_outside_of_the_project_is_read(sites, tmp_path):
    outside = tmp_path.parent / f"{tmp_path.name}-outside.yaml"
    outside.write_text("_target_: shop.net.Net\ndim: 3\ndepth: 4\n")
    (tmp_path / "link.yaml").symlink_to(outside)
    os.mkfifo(tmp_path / "pipe.yaml")
    assert not sites(
        {
            "main.py": lines(
                IMPORT,
                f"Net(**yaml.safe_load(open('../{outside.name}')))",
                f"Net(**yaml.safe_load(open('{outside}')))",
            )
        }
    )


BOMBS = {
    "aliases.yaml": lines("a0: &a0 [Net, Net]", *(f"a{i + 1}: &a{i + 1} [*a{i}, *a{i}]" for i in range(24))),
    "itself.yaml": "a: &a\n  _target_: shop.net.Net\n  dim: *a\n",
    "deep.yaml": "dim_depth_Net: " + "[" * 20_000,
    "deep.json": "[" * 50_000,
    "references.yaml": lines(
        "_target_: shop.net.Net",
        *(f"k{i}: '${{k{i + 1}}}${{k{i + 1}}}'" for i in range(40)),
        "k40: x",
        "dim: ${k0}",
        "depth: 1",
    ),
    "huge.yaml": "Net: 1\n" * 100_000,
    "number.yaml": f"_target_: shop.net.Net\ndim: {'9' * 5000}\n",
    "defaults.yaml": "defaults: [defaults, defaults, _self_]\n_target_: shop.net.Net\n",
    "deep.py": "Net(" + "(" * 300 + ")" * 300 + ")",
    "chain.py": lines(IMPORT, *(f"a{i} = a{i + 1} + a{i + 1}" for i in range(60)), "a60 = 1", "Net(a0, 2)"),
    "binary.py": "Net(\0",
}


def test_hostile_files_cost_little(sites):
    start = time.process_time()
    assert not sites(BOMBS)
    assert time.process_time() - start < 10


OTHER = "class Net:\n    def __init__(self, width, height): ...\n"


@pytest.mark.parametrize(
    "files",
    [
        {"shop/other.py": OTHER + "small = Net(7, 7)\n"},
        {"shop/other.py": OTHER, "train.py": "from shop.other import Net\nnet = Net(7, 7)\n"},
        {"shop/other.py": OTHER, "train.py": "from shop.other import Net as Other\nnet = Other(7, 7)\n"},
        {"shop/other.py": OTHER, "train.py": "from shop import other\nnet = other.Net(7, 7)\n"},
        {
            "shop/other.py": OTHER,
            "shop/__init__.py": "from .other import Net\n",
            "train.py": "from shop import Net\nnet = Net(7, 7)\n",
        },
        {"tests/test_own.py": "def test_it():\n    class Net: ...\n    Net(7, 7)\n"},
    ],
)
def test_other_classes_of_the_same_name_say_nothing(sites, files):
    assert [site.kwargs for site in sites(files)] == []


def test_decorated_factory_is_read_in_its_own_file(sites):
    files = {
        "shop/register.py": """
            from functools import wraps
            def registered(function):
                @wraps(function)
                def call(*args, **kwargs): return function(*args, **kwargs)
                return call
            """,
        "shop/net.py": OWN + "from shop.register import registered\n@registered\ndef small(dim): ...\n",
        "train.py": "from shop.net import small\nnet = small(6)\n",
    }
    assert [(site.place, site.kwargs) for site in sites(files, name="small")] == [("train.py:2", {"dim": 6})]


@pytest.mark.parametrize(
    ("made", "inputs"),
    [
        ("Net(8, 2)", [[[3, 8]]]),
        ("torch.compile(Net(8, 2).eval(), fullgraph=True)", [[[3, 8]]]),
        ("nn.Sequential(nn.Linear(5, 8), Net(8, 2))", []),
    ],
)
def test_inputs_are_those_of_the_model_itself(sites, made, inputs):
    code = f"import torch\nfrom torch import nn\n{IMPORT}model = {made}\nmodel(torch.randn(3, 8))\n"
    assert [site.inputs for site in sites({"train.py": code})] == [inputs]


@pytest.mark.parametrize("value", ["!!bool maybe", '!!float ""', "!!int x", "&a [*a]"])
def test_configurations_that_are_no_yaml_say_nothing(sites, value):
    files = {"conf/bad.yaml": f"dim: 8\ndepth: {value}\n", "conf/good.yaml": "dim: 3\ndepth: 2\n"}
    assert [site.kwargs for site in sites(files)] == [{"dim": 3, "depth": 2}]


def test_complex_numbers_are_no_arguments(sites):
    assert [site.kwargs for site in sites({"train.py": f"{IMPORT}net = Net((-8) ** 0.5, 2)\n"})] == []


@pytest.mark.parametrize("change", ["dim = dim * 2", "dim += 1", "if dim is None: dim = 64"])
def test_parameter_that_its_function_assigns_is_unknown(sites, change):
    code = f"{IMPORT}def make(dim=3):\n    {change}\n    return Net(dim, 2)\n"
    assert [site.kwargs for site in sites({"train.py": code})] == []


def test_cells_of_a_notebook_share_their_names(sites):
    cells = [
        "%matplotlib inline\n" + IMPORT,
        "DIMS = [8, 16]\n",
        "not python\n",
        "net = Net(DIMS[1], depth=len(DIMS))\n",
    ]
    written = [{"cell_type": "code", "source": cell.splitlines(keepends=True)} for cell in cells]
    (site,) = sites({"explore.ipynb": json.dumps({"cells": written})})
    assert site.kwargs == {"dim": 16, "depth": 2}


@pytest.mark.parametrize("cell", ["dim = (16\n% 40)\n", "if True:\n    !pip install x\ndim = 16\n"])
def test_commands_in_notebooks_cost_no_code(sites, cell):
    written = [{"cell_type": "code", "source": text} for text in (IMPORT, cell, "net = Net(dim, 2)\n")]
    (site,) = sites({"explore.ipynb": json.dumps({"cells": written})})
    assert site.kwargs == {"dim": 16, "depth": 2}
