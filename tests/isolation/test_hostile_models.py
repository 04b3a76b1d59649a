"""Whatever a model does, one sentence says what happened and where, and the next model is not affected."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

HARMFUL = {
    "SystemExits": ("forward", "the forward pass of hostile.SystemExits raised SystemExit: good bye"),
    "Exits": ("worker", "tracing hostile.Exits ended the tracing process with exit status 3"),
    "Crashes": ("worker", "tracing hostile.Crashes ended the tracing process by signal SIGSEGV"),
    "Reads": ("forward", "the forward pass of hostile.Reads raised EOFError: EOF when reading a line"),
    "TakesAll": ("forward", "the forward pass of hostile.TakesAll raised MemoryError: (it may take 0.3 GB, see the op"),
    "Interrupts": ("model", "tracing hostile.Interrupts raised KeyboardInterrupt"),
    "RaisesItsOwn": ("model", "hostile.RaisesItsOwn raised Stop: no more"),
    "Sleeps": ("worker", "tracing hostile.Sleeps took longer than 3 s and was stopped (option `timeout`)"),
}
LIMITS = {"TakesAll": {"memory": 0.3}, "Sleeps": {"timeout": 3}}
"""A busy machine may need seconds to come to the forward pass."""


def assert_unaffected(make, fresh):
    """The next model is drawn as by a fresh process."""
    after = make("hostile.Good")
    assert after.problem is None
    assert after.graph == fresh.graph
    assert after.picture == fresh.picture


@pytest.mark.parametrize("name", HARMFUL)
def test_harmful_model_is_reported_in_a_sentence_with_its_line(make, fresh, name):
    kind, sentence = HARMFUL[name]
    problem = make(f"hostile.{name}", **LIMITS.get(name, {})).problem
    assert problem.kind == kind
    assert sentence in problem.message.splitlines()[0]
    where = "__init__" if name == "RaisesItsOwn" else "forward"
    assert problem.frames[-1].startswith("hostile.py:")
    assert problem.frames[-1].endswith(where)
    assert "Traceback" not in problem.message
    assert_unaffected(make, fresh)


@pytest.mark.parametrize("name", ["Forks", "Prints", "StartsThreads", "ChangesDirectory", "PatchesTorch", "Leaks"])
def test_a_running_model_is_drawn_whatever_else_it_does(make, fresh, name):
    made = make(f"hostile.{name}", memory=8)
    assert made.problem is None
    assert made.picture is not None
    assert_unaffected(make, fresh)


def test_killed_model_has_no_frames(make, fresh):
    problem = make("hostile.Kills").problem
    assert problem.message == "tracing hostile.Kills ended the tracing process by signal SIGKILL"
    assert problem.frames == ()
    assert_unaffected(make, fresh)


def test_long_output_keeps_its_end(make, builder):
    make("hostile.Prints")
    assert builder.output.endswith("noise \n")
    assert len(builder.output) <= 20_000


@pytest.mark.parametrize(
    ("model", "sentence", "frame"),
    [
        ("hostile_imports.Model", "raised BaseException: imported on a bad day", "hostile_imports.py:1"),
        ("hostile_needs.Model", "raised ModuleNotFoundError: No module named 'nosuchpackage'", "hostile_needs.py:1"),
        (
            "hostile_ring.Model",
            "raised ImportError: cannot import name 'Model' from part",
            "hostile_ring_back.py:1",
        ),
        ("hostile_waits.Model", "took longer than 3 s and was stopped", "hostile_waits.py:"),
    ],
)
def test_failing_import_is_reported_with_its_line(make, fresh, model, sentence, frame):
    problem = make(model, **({"timeout": 3} if model == "hostile_waits.Model" else {})).problem
    assert sentence in problem.message.splitlines()[0]
    assert problem.frames[-1].startswith(frame)
    assert problem.frames[-1].endswith(" in <module>")
    assert_unaffected(make, fresh)


def test_side_effects_of_an_import_serve_the_packages_own_models_only(make, fresh):
    assert make("hostile_settings.Model").graph == make("hostile_settings.Model").graph
    assert_unaffected(make, fresh)


def test_forked_processes_are_killed(make, builder):
    problem = make("hostile.ForksAndExits").problem
    assert problem.message.startswith("tracing hostile.ForksAndExits ended the tracing process with exit status 4")
    child = Path("/proc") / builder.output.splitlines()[0]
    deadline = time.monotonic() + 120
    while _runs(child) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(child)


def _runs(process: Path) -> bool:
    """Whether a process is no zombie (if /proc says so)."""
    try:
        return (process / "stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
