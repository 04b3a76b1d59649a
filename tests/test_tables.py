"""What sweeps say reaches the person who started them, also from another process and in runs that are stopped."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

TESTS = """
import pytest

@pytest.fixture(scope="module")
def counted(report):
    found = []
    yield found
    report(f"all of {len(found)}")

@pytest.mark.zoo
@pytest.mark.parametrize("number", range(3))
def test_of_the_zoo(number, counted, share, report):
    counted.append(number)
    report(f"about {number}")
    share("numbers of few", number, 4)
    assert number < 2

@pytest.mark.zoo
@pytest.mark.skip
def test_that_is_skipped():
    pass

def test_of_every_run(report):
    report("beside it")
"""


@pytest.mark.process
@pytest.mark.parametrize("more", [[], ["-n1"]], ids=["in one process", "in another"])
def test_lines_are_printed_when_tests_end_and_shares_at_the_end(tmp_path, more):
    (tmp_path / "test_it.py").write_text(TESTS, "utf-8")
    (tmp_path / "pytest.ini").write_text("[pytest]\nmarkers = zoo: slow\n", "utf-8")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "tables", "-p", "xdist.plugin", *more, tmp_path],
        cwd=tmp_path,
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONPATH": str(Path(__file__).parent)},
        capture_output=True,
        text=True,
        check=False,
    )
    during, _, at_the_end = done.stdout.partition(" zoo, in seconds of a processor ==")
    for line in ("about 0", "about 1", "about 2", "all of 3", "beside it", "numbers of few: 1 of 4 (25.0%)"):
        assert during.splitlines().count(line) == 1, done.stdout
    lines = [line.strip() for line in at_the_end.splitlines()]
    assert re.fullmatch(r"\d+ s  test_it.py: 1 failed, 2 passed, 1 skipped", lines[1])
    assert lines[2:5] == [f"numbers of few: {number} of 4 ({number / 4:.1%})" for number in range(3)]
