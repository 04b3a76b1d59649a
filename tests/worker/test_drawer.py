"""The drawing process, which never runs a model."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from graphs import small_graph
from modeldiagrams.errors import RenderError
from modeldiagrams.ir.serialize import serialize
from modeldiagrams.options.options import View
from modeldiagrams.render.draw import render
from modeldiagrams.worker.drawing import Drawer


@pytest.fixture
def drawer():
    drawer = Drawer()
    yield drawer
    drawer.close()


def draw(drawer):
    return drawer.render(serialize(small_graph()), View())


def test_picture_is_the_same_as_in_process(drawer):
    assert draw(drawer) == render(small_graph(), View())


def test_invalid_graph_is_a_render_error(drawer):
    with pytest.raises(RenderError) as caught:
        drawer.render(b'{"nonsense": 1}', View())
    assert len(str(caught.value)) < 500


def test_death_between_requests_starts_a_new_process(drawer):
    first = draw(drawer)
    process = drawer._process._child
    process.kill()
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert draw(drawer) == first
    assert drawer._process._child is not process


def test_forked_child_draws_in_a_process_of_its_own(drawer):
    first, before = draw(drawer), drawer._process
    pid = os.fork()
    if pid == 0:
        is_fine = False
        try:
            is_fine = draw(drawer) == first and drawer._process is not before
            own = drawer._process._child
            drawer.close()
            is_fine = is_fine and own.returncode == -signal.SIGKILL
        finally:
            os._exit(0 if is_fine else 1)
    assert os.waitpid(pid, 0)[1] == 0
    assert draw(drawer) == first
    assert drawer._process is before


def test_process_ends_with_its_owner():
    script = (
        "import os, signal\nfrom modeldiagrams.errors import RenderError\n"
        "from modeldiagrams.worker.drawing import Drawer\nfrom modeldiagrams.options.options import View\n"
        "drawer = Drawer()\ntry:\n    drawer.render(b'{}', View())\nexcept RenderError:\n    pass\n"
        "print(drawer._process._child.pid, flush=True)\nos.kill(os.getpid(), signal.SIGKILL)\n"
    )
    owner = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    pid = int(owner.stdout)
    deadline = time.monotonic() + 120
    while _runs(pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert not _runs(pid)


def _runs(pid):
    """Whether a process runs and is no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False
