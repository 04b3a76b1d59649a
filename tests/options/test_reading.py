"""Authors' text becomes plain data."""

from __future__ import annotations

import random

import pytest

from modeldiagrams.errors import ModelDiagramsError
from modeldiagrams.options import reading
from modeldiagrams.options.reading import read_yaml


def test_both_loaders_read_the_same(monkeypatch):
    """Builds must not depend on whether PyYAML has its C loader."""
    parts = [
        "a",
        "*",
        "?",
        "- ",
        ":",
        ": ",
        ", ",
        "[",
        "]",
        "{",
        "}",
        "\n",
        "\n  ",
        "\n- ",
        '"',
        "'",
        " # c",
        "1.5",
        "true",
    ]
    parts += [
        "~",
        "&a ",
        "*a",
        "!!str ",
        "|",
        ">",
        "%",
        "@",
        "é",
        "\t",
        "0x1",
        "2024-01-01",
        "<<",
        "\u2028",
        "[1, 16]",
        "---",
    ]
    drawn = random.Random(0)  # noqa: S311
    texts = ["".join(drawn.choices(parts, k=drawn.randint(1, 8))) for _ in range(4000)]
    fast = [_read(text) for text in texts]
    monkeypatch.setattr(reading, "_MOST_NESTED", -1)
    reading._load_cached.cache_clear()
    assert [_read(text) for text in texts] == fast
    assert sum(not value.startswith("error: ") for value in fast) > 1000


def _read(text: str) -> str:
    try:
        return repr(read_yaml(text))
    except ModelDiagramsError as error:
        return f"error: {error}"


def test_deeply_nested_yaml_is_an_error() -> None:
    """The C loader would overflow its stack and end the process."""
    with pytest.raises(ModelDiagramsError, match="recursion"):
        read_yaml("[" * 100_000 + "]" * 100_000)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("a: 1\nb: *b", "(line 2, `b: *b`): found undefined alias 'b'"),
        ("a: 1\nb: [1,\nc: 2\n", "(line 2, `b: [1,`): expected ',' or ']', but it ends there"),
        ("a: 1\nb: 2\na: 3", "(line 3, `a: 3`): the key 'a' is given twice"),
        ("a: 1\nb:\n  c: 2\n d: 3", "(line 4, `d: 3`): expected the indentation of the lines above"),
        (f"a: 1\n{'b' * 200}: *b", f"(line 2, `{'b' * 80}…`): found undefined alias 'b'"),
    ],
)
def test_yaml_errors_name_the_line_that_is_wrong(text: str, says: str) -> None:
    with pytest.raises(ModelDiagramsError) as caught:
        read_yaml(text)
    assert str(caught.value) == f"is not valid YAML {says}"
