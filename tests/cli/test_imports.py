"""Commands only import what they need, because imports take time."""

from __future__ import annotations

import subprocess
import sys

import pytest

_UNNEEDED = ("jinja2", "py_mini_racer", "modeldiagrams.html", "modeldiagrams.overlay", "modeldiagrams.watching")


@pytest.mark.parametrize("command", ["trace", "schema", "snapshot"])
def test_no_command_imports_what_only_others_need(command):
    script = (
        "import sys\nfrom modeldiagrams.cli import main\n"
        f"main([{command!r}, '--help'], standalone_mode=False)\n"
        "print('loaded:', *sorted(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert f"{command} [OPTIONS]" in done.stdout
    loaded = done.stdout.partition("loaded: ")[2].split()
    assert not [name for name in loaded if name.startswith(_UNNEEDED)]


def test_worker_imports_nothing_that_draws_pages():
    script = "import modeldiagrams.worker.tracing, sys; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    unneeded = ("jinja2", "py_mini_racer", "modeldiagrams.html", "modeldiagrams.engine", "modeldiagrams.worker.drawing")
    assert not [name for name in done.stdout.split() if name.startswith(unneeded)]
