"""The option `config` makes the configuration that a first parameter is annotated with."""

from __future__ import annotations

import sys

import pytest

from modeldiagrams.errors import TargetError
from modeldiagrams.options.parsing import parse_options
from modeldiagrams.resolve import resolve


def target(model, **options):
    return resolve(parse_options({"model": model, **options}).call)


@pytest.mark.parametrize(
    "annotation", ["'Config | None' = None", "Config = Config()", "typing.Optional[Config] = None"]
)
def test_config_makes_an_optional_configuration_object(tmp_path, monkeypatch, annotation):
    (tmp_path / "optionally.py").write_text(
        "import dataclasses, typing\nfrom torch import nn\n\n"
        "@dataclasses.dataclass(frozen=True)\nclass Config:\n    width: int = 4\n\n"
        "class Net(nn.Linear):\n"
        f"    def __init__(self, cfg: {annotation}, bias: bool = True):\n"
        "        super().__init__((cfg or Config()).width, 2, bias)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "optionally", raising=False)
    assert target("optionally.Net", config="{width: 7}").model.in_features == 7
    assert target("optionally.Net").model.in_features == 4


@pytest.mark.parametrize(
    "parameters", ["cfg: type[Config] = Config", "cfg: tuple[Config, int] = ()", "*, cfg: Config = 0"]
)
def test_config_makes_nothing_that_merely_mentions_a_dataclass(tmp_path, monkeypatch, parameters):
    (tmp_path / "mentioned.py").write_text(
        "import dataclasses\nfrom torch import nn\n\n@dataclasses.dataclass\nclass Config:\n    width: int = 4\n\n"
        f"class Net(nn.Linear):\n    def __init__(self, {parameters}):\n        super().__init__(4, 2)\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "mentioned", raising=False)
    with pytest.raises(TargetError, match="whose first parameter is annotated with a dataclass"):
        target("mentioned.Net", config="{width: 7}")
