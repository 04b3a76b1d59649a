"""How problems are worded for authors and readers."""

from __future__ import annotations

from modeldiagrams.engine.problems import format_problem
from modeldiagrams.worker import Problem

PROBLEM = Problem(
    kind="worker",
    message="tracing mypkg.Net ended",
    frames=("mypkg/a.py:1 in call", "mypkg/b.py:2 in forward"),
    printed=("one", "two\x1b[0m\x07"),
    remark="remembered",
)


def test_problem_shows_frames_output_and_remark():
    assert format_problem(PROBLEM).splitlines() == [
        "tracing mypkg.Net ended",
        "  mypkg/a.py:1 in call",
        "  mypkg/b.py:2 in forward",
        "  its last output:",
        "  one",
        "  two\\x07",
        "  remembered",
    ]


def test_message_alone_is_one_line():
    assert format_problem(Problem(kind="model", message=" no such model\n")) == "no such model"


def test_a_long_problem_keeps_the_start_of_its_message_and_the_end_of_the_rest():
    long = Problem(
        kind="worker",
        message="m" * 100_000,
        frames=tuple(f"mypkg/a.py:{number} in call" for number in range(1000)),
        printed=("x" * 200, "the end"),
        remark="remembered",
    )
    text = format_problem(long)
    lines = text.splitlines()
    assert len(text) < 930
    assert lines[0].endswith("m…")
    assert lines[-4].endswith("999 in call")
    assert [line.strip() for line in lines[-3:]] == ["its last output:", "the end", "remembered"]


def test_endless_recursion_is_one_line():
    frames = ("mypkg/a.py:1 in forward", *["mypkg/a.py:7 in __getattr__"] * 969)
    told = format_problem(Problem(kind="model", message="tracing mypkg.Net raised RecursionError", frames=frames))
    assert told.splitlines()[1:] == ["  mypkg/a.py:1 in forward", "  mypkg/a.py:7 in __getattr__ (×969)"]
