"""A test run ends with the name of a test that hangs or crashes."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.process
TESTS = Path(__file__).parents[1]
MAKEFILE = (TESTS.parent / "Makefile").read_text("utf-8").replace("\\\n", "")
(WORDS,) = re.findall(r"^PYTEST = .*-m pytest (.*)$", MAKEFILE, re.MULTILINE)
BAD = {
    "dies": "import os, signal\ndef test_dies(): os.kill(os.getpid(), signal.SIGSEGV)",
    "hangs": "import ctypes\ndef test_hangs(): ctypes.CDLL(None).sleep(600)",
}
MANY = "import time\nimport pytest\n@pytest.mark.parametrize('n', range(300))\ndef test_others(n): time.sleep(0.1)"


@pytest.mark.parametrize("how", BAD)
def test_a_run_ends_with_the_name(how, tmp_path):
    words = re.sub(r"(--timeout) \d+", r"\1 2", WORDS.replace("$(CORES)", "2")).split()
    (tmp_path / "test_bad.py").write_text(BAD[how], "utf-8")
    (tmp_path / "test_many.py").write_text(MANY, "utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "--disable-plugin-autoload",
        "-p",
        "xdist.plugin",
        "-p",
        "ending",
        *words,
    ]
    options = ["-p", "no:cacheprovider", "-o", "faulthandler_timeout=1"]
    environment = {**os.environ, "PYTHONPATH": str(TESTS)}
    done = subprocess.run(
        [*command, *options, tmp_path],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    printed = done.stdout + done.stderr
    assert done.returncode == 2, printed
    assert re.search(r"crashed while running 'test_bad.py::test_", printed), printed
    if how != "dies":
        assert "Timeout (0:00:01)!" in printed  # of faulthandler
        assert re.search(r"test_bad\.py\", line 2 in test_hangs", printed)
