"""Comments in the model's code say something of what their line makes or calls.

Long because it is a list of cases, each with the source of a model.
"""

from __future__ import annotations

import importlib
import sys
import textwrap

import pytest
import torch

from modeldiagrams import trace
from modeldiagrams.overlay import comments
from modeldiagrams.overlay.comments import add_cues, read_cues
from modeldiagrams.overlay.resolve import resolve

CODE = """
import torch
from torch import nn


def scaled(x):
    return (x.exp() * 3).log() + 1


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm = nn.LayerNorm(4)
        self.fc = nn.Linear(4, 4)  # diagram: note A layer, with "quotes" & <b>signs</b>.
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        h = self.fc(self.norm(x))
        h = self.drop(h)  #diagram: hide
        h = torch.relu(h)  # diagram: group Mix
        h = h.tanh()  # diagram: group Mix
        # diagram: note The residual.
        return x + h


class Net(nn.Module):
    text = "# diagram: hide"

    def __init__(self):
        super().__init__()
        self.blocks = nn.ModuleList([Block(), Block()])  # diagram: note Equal blocks.
        self.head = nn.Linear(4, 2)

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        x = scaled(x)  # diagram: hide
        return self.head(x), "# diagram: hide"
"""


@pytest.fixture
def graph(tmp_path, monkeypatch):
    (tmp_path / "cued_model.py").write_text(CODE)
    monkeypatch.syspath_prepend(tmp_path)
    module = importlib.import_module("cued_model")
    try:
        yield trace(module.Net().eval(), (torch.ones(1, 4),))
    finally:
        del sys.modules["cued_model"]


def test_comments_refer_to_layers_ops_and_functions(graph, tmp_path):
    cues, wrong = read_cues(graph, [str(tmp_path / "cued_model.py"), str(tmp_path / "gone.py"), "/usr/lib/x.so"])
    assert wrong == []
    overlay, problems = resolve(graph, add_cues({}, cues))
    assert problems == []
    assert [(note.text, note.nodes) for note in overlay.notes] == [
        ('A layer, with "quotes" & <b>signs</b>.', ("blocks.0.fc", "blocks.1.fc")),
        ("The residual.", ("blocks.0/add", "blocks.1/add")),
        ("Equal blocks.", ("blocks.0", "blocks.1")),
    ]
    assert [(group.name, group.nodes) for group in overlay.groups] == [
        ("Mix", (f"blocks.{i}/relu", f"blocks.{i}/tanh")) for i in range(2)
    ]
    assert [name for name, said in overlay.nodes.items() if said.hide] == [
        "blocks.0.drop",
        "blocks.1.drop",
        "/scaled()",
    ]


def test_options_of_pages_override_groups_of_comments(graph, tmp_path):
    cues, _ = read_cues(graph, [str(tmp_path / "cued_model.py")])
    overlay, _ = resolve(graph, add_cues({"notes": {"head": "First."}, "hide": ["Linear"]}, cues))
    assert [note.text for note in overlay.notes][:2] == ["First.", 'A layer, with "quotes" & <b>signs</b>.']
    assert overlay.nodes["head"].hide


def test_a_comment_follows_the_note_of_its_page(graph, tmp_path):
    cues, _ = read_cues(graph, [str(tmp_path / "cued_model.py")])
    overlay, _ = resolve(graph, add_cues({"notes": {"blocks.0,blocks.1": "Of the page."}}, cues))
    both = [note.text for note in overlay.notes if note.nodes == ("blocks.0", "blocks.1")]
    assert both == ["Of the page.", "Equal blocks."]
    assert overlay.notes[0].text == "Of the page."


def test_comments_in_other_files_of_the_same_name_are_ignored(graph, tmp_path):
    other = tmp_path / "folder" / "cued_model.py"
    other.parent.mkdir()
    other.write_text(CODE.replace("Equal blocks", "Other blocks"))
    files = [str(other), str(tmp_path / "cued_model.py")]
    assert read_cues(graph, files) == read_cues(graph, files[1:])


def test_files_other_than_python_are_ignored(graph, tmp_path):
    (tmp_path / "cued_model.py").write_text(f"{CODE}\n  broken(  # diagram: hide\n")
    cues, wrong = read_cues(graph, [str(tmp_path / "cued_model.py")])
    assert not any(cues.values())
    assert wrong == []


FILES = {
    "__init__.py": "",
    "base.py": """
        import torch
        from torch import nn

        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = nn.Linear(4, 4)  # diagram: note Made in the base.
                self.drop = nn.Dropout(0.1)  # diagram: hide

            def forward(self, x):
                return self.mix(self.fc(x))  # diagram: note Called in the base.

            def mix(self, x):
                return torch.relu(self.drop(x))
        """,
    "deeper.py": "from .base import Base as Lowest",
    "models.py": """
        import torch
        from torch import nn
        import bases.deeper as below
        from .base import Base

        class Child(below.Lowest):
            pass

        class Other(Base):
            def forward(self, x):
                return self.fc(x).tanh()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.child, self.other = Child(), Other()

            def forward(self, x):
                return self.child(x) + self.other(x)
        """,
}


@pytest.fixture
def inherited(tmp_path, monkeypatch):
    """The model of `FILES` as they are when it is called, and the files."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(**edits):
        folder = tmp_path / "bases"
        folder.mkdir()
        for name, code in FILES.items():
            text = textwrap.dedent(code)
            for before, after in edits.get(name.removesuffix(".py"), ()):
                assert before in text
                text = text.replace(before, after)
            (folder / name).write_text(text)
        module = importlib.import_module("bases.models")
        graph = trace(module.Net().eval(), (torch.ones(1, 4),))
        return graph, [str(folder / name) for name in FILES]

    yield make
    for name in [name for name in sys.modules if name.partition(".")[0] == "bases"]:
        del sys.modules[name]


def test_comments_in_inherited_methods_refer_to_the_classes_that_run_them(inherited):
    graph, files = inherited()
    cues, wrong = read_cues(graph, files)
    assert wrong == []
    # `Other` has a `forward` of its own
    assert cues["notes"] == {"child.fc,other.fc": "Made in the base.", "child.fc": "Called in the base."}
    assert cues["hide"] == ["child.drop"]


@pytest.mark.parametrize(
    ("before", "after", "message"),
    [
        ("diagram: hide", "diagram: hid", "bases/base.py:9: `# diagram: hid` is unknown; did you mean 'hide'?"),
        (
            "diagram: hide",
            "diagram: see the paper",
            "bases/base.py:9: `# diagram: see` is unknown; expected note, group, hide",
        ),
        (
            "diagram: hide",
            "diagram: group",
            "bases/base.py:9: `# diagram: group` says nothing; expected the name of a group",
        ),
        (
            "def forward(self, x):",
            "def forward(self, x):  # diagram: note Runs.",
            "bases/base.py:11: `# diagram: note` matches nothing: line 11 names no layer of `self` and makes no op",
        ),
    ],
)
def test_invalid_comments_are_reported(inherited, before, after, message):
    graph, files = inherited(base=[(before, after)])
    _, (problem,) = read_cues(graph, files)
    assert str(problem).startswith(message)


def test_comments_in_code_of_other_models_are_not_reported(inherited):
    other = """
class Unused(nn.Module):
    def __init__(self):
        self.fc = nn.Linear(4, 4)  # diagram: hid

    def generate(self):
        return self.fc()  # diagram: hide
"""
    graph, files = inherited(
        base=[
            ("import torch\n", "import torch\n\n"),
            ("return torch.relu(self.drop(x))\n", f"return torch.relu(self.drop(x))\n{other}"),
        ]
    )
    _, wrong = read_cues(graph, files)
    assert wrong == []


ITEMS = """
from torch import nn


class Enc(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)
        self.drop = nn.Dropout(0.1)

    def forward(self, x):
        return self.fc(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = Enc()
        self.blocks = nn.ModuleList([nn.Linear(4, 4) for _ in range(3)])
        self.named = nn.ModuleDict({"a": nn.ReLU(), "b": nn.ReLU()})

    def forward(self, x):
        x = self.encoder(x)
        x = self.encoder.drop(x)  # diagram: hide
        x = self.blocks[0](x)  # diagram: note First.
        for i in range(1, 3):
            x = self.blocks[i](x)  # diagram: note All.
        x = self.named["a"](x)  # diagram: note A.
        x = self.blocks[-1](self.named["b"](x))  # diagram: group End
        return x @ self.encoder.fc.weight  # diagram: group Tied
"""


@pytest.fixture
def traced(tmp_path, monkeypatch):
    """Traces the class `Net` of some code; gives the graph and the file."""
    monkeypatch.syspath_prepend(tmp_path)

    def make(code, encoding="utf-8"):
        file = tmp_path / "commented_model.py"
        file.write_text(code, encoding)
        importlib.invalidate_caches()
        net = importlib.import_module("commented_model").Net().eval()
        return trace(net, (torch.ones(1, 4),)), [str(file)]

    yield make
    sys.modules.pop("commented_model", None)


def test_comments_refer_to_the_item_named_on_their_line(traced):
    cues, wrong = read_cues(*traced(ITEMS))
    assert wrong == []
    assert cues["hide"] == ["encoder.drop"]
    assert cues["notes"] == {
        "blocks.0": "First.",
        "blocks.0,blocks.1,blocks.2,blocks.2#2": "All.",
        "named.a": "A.",
    }
    assert cues["group"] == {"End": ["blocks.2", "named.b", "blocks.2#2"], "Tied": ["encoder.fc"]}


@pytest.mark.parametrize(
    ("call", "cued"), [("super(Child, self).__init__()", True), ("Base.__init__(self)", True), ("'super()'", False)]
)
def test_comments_in_a_base_class_apply_where_its_method_is_called(traced, call, cued):
    code = f"""
from torch import nn


class Base(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 4)  # diagram: note Made in the base.

    def forward(self, x):
        return self.fc(x)


class Child(Base):
    def __init__(self):
        {call}
        {"pass" if cued else "nn.Module.__init__(self=self); self.fc = nn.Linear(4, 4)"}


Net = Child
"""
    cues, _ = read_cues(*traced(code))
    assert cues["notes"] == ({"fc": "Made in the base."} if cued else {})


@pytest.mark.parametrize(("before", "encoding"), [("\f", "utf-8"), ("", "utf-8-sig")])
def test_comments_are_read_in_files_with_form_feeds_or_byte_order_marks(traced, before, encoding):
    code = f"{before}{CODE}".replace("class Net", f"{before}\nclass Net")
    cues, wrong = read_cues(*traced(code, encoding))
    assert wrong == []
    assert cues["notes"]["blocks.0/add,blocks.1/add"] == "The residual."


def test_searching_the_nearest_match_is_limited_to_the_models_code(traced, monkeypatch):
    """Code that is not the model's is not searched for the nearest line that would match."""
    asked = []
    made = comments._CueReader._find_ops
    monkeypatch.setattr(comments._CueReader, "_find_ops", lambda self, *at: (asked.append(at), made(self, *at))[1])
    unused = (
        "\n\nclass Unused(nn.Module):\n    def forward(self, x):\n        # diagram: hide\n" + "        x = x\n" * 50
    )
    read_cues(*traced(CODE + unused))
    assert len(asked) < 15
