"""The page of `modeldiagrams watch` in a browser: it follows the file, and keeps what the reader looks at."""

import math
import signal
import subprocess
import sys

import pytest

from browser.axe import violations
from browser.controls import PATIENCE, wait_until
from modeldiagrams import Recording
from modeldiagrams.watching.file.records import Key, Loss, Moment, Row, Run

MODULES = {"conv": "torch.nn.Conv2d", "head": "torch.nn.Linear"}


def write(path, steps):
    rows = {Key(node, kind): Row(count=10, norm=2.0) for node in MODULES for kind in ("activation", "gradient")}
    moments = [Moment(step=step, rows=rows) for step in range(steps)]
    losses = [Loss(step, math.exp(-step)) for step in range(steps)]
    Recording([Run(step=0, model="pkg.Net", modules=MODULES)], moments, losses).save(path)


@pytest.fixture
def live(tmp_path):
    """A recording and the address of its page."""
    path = tmp_path / "run.mdwatch"
    write(path, 0)
    command = [sys.executable, "-m", "modeldiagrams", "watch", path, "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        try:
            yield path, process.stdout.readline().strip()
        finally:
            process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=PATIENCE)
    # although a reader is still there
    assert process.returncode == 0
    assert "Traceback" not in errors


def told(reader):
    return reader.page.locator(".mg-run-told").inner_text()


def test_the_page_follows_the_training(reader, live):
    path, address = live
    reader.page.goto(address)
    reader.page.locator(".mg-run-note", has_text="Live").wait_for(timeout=1000 * PATIENCE)
    slider = reader.page.get_by_role("slider")
    assert slider.is_hidden()
    write(path, 3)
    wait_until(reader, lambda: told(reader) == "Step 2 · loss 0.14")
    assert reader.node("conv").get_attribute("data-tint") not in {None, "unseen"}
    # at the end the slider goes along, and elsewhere it stays
    write(path, 4)
    wait_until(reader, lambda: told(reader).startswith("Step 3 "))
    slider.focus()
    reader.page.keyboard.press("Home")
    write(path, 6)
    wait_until(reader, lambda: slider.get_attribute("max") == "5")
    assert told(reader).startswith("Step 0 ")
    path.write_bytes(b"spoiled")
    reader.page.locator(".mg-run-note", has_text="can't be read").wait_for()
    assert told(reader).startswith("Step 0 ")
    assert violations(reader) == []
