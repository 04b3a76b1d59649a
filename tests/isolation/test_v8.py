"""The embedded V8 in threads, event loops and forks: each case in a process of its own, which must also end well.

On processors with memory protection keys (`ospke` in /proc/cpuinfo), V8 may die only when the process ends. Where the
kernel refuses keys, as some containers do, processes behave as on processors without them.
"""

from __future__ import annotations

import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TESTS = Path(__file__).parents[1]
PATIENCE = 120
FIRST = """
import asyncio, os, sys, threading
from modeldiagrams import load, to_svg
from modeldiagrams.render import js_runtime
from modeldiagrams.render.assets import find_asset

graph = load("golden/residual.json")
expected = open("golden/residual.svg", encoding="utf-8").read()
done = []

def draw():
    assert to_svg(graph) == expected
    done.append(1)

def context():
    return js_runtime._create_context(os.getpid(), find_asset("static.js"))

def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()

"""
CASES = {
    "closed at exit": ("draw()", 1),
    "closed in a third thread": ("in_thread(draw); draw(); in_thread(lambda: js_runtime._drop(context()))", 2),
    "twenty contexts one after the other": ("for _ in range(20): draw(); js_runtime._drop(context())", 20),
    "in a running loop": (
        """
        async def cell():
            draw()

        asyncio.run(cell())
        in_thread(lambda: asyncio.run(cell()))
        draw()
        """,
        3,
    ),
    "after a fork": (
        """
        in_thread(draw)
        for _ in range(2):
            if (child := os.fork()) == 0:
                draw()
                sys.exit()
            assert os.waitpid(child, 0)[1] == 0
            draw()
        """,
        3,
    ),
    "after a fork while another thread draws": (
        """
        js_runtime._LOCKS.setdefault(os.getpid(), threading.Lock()).acquire()
        if (child := os.fork()) == 0:
            draw()
            sys.exit()
        assert os.waitpid(child, 0)[1] == 0
        """,
        0,
    ),
    "in several threads at once": (
        """
        barrier = threading.Barrier(8)
        threads = [threading.Thread(target=lambda: (barrier.wait(), draw())) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert js_runtime._create_context.cache_info().misses == 1
        """,
        8,
    ),
    "while a thread draws for ever": (
        """
        drawn = threading.Event()

        def draw_for_ever():
            while True:
                to_svg(graph)
                drawn.set()

        threading.Thread(target=draw_for_ever, daemon=True).start()
        drawn.wait()
        """,
        0,
    ),
    "V8 started by other code": (
        """
        import py_mini_racer

        py_mini_racer.MiniRacer().eval("1")
        in_thread(draw)
        js_runtime._drop(context())
        draw()
        """,
        2,
    ),
    "V8 started by other code in a thread that is gone": (
        """
        import py_mini_racer

        in_thread(lambda: py_mini_racer.MiniRacer().eval("1"))
        draw()
        in_thread(draw)
        """,
        2,
    ),
}
WITHOUT_KEYS = ("closed in a third thread", "in several threads at once") if sys.platform == "linux" else ()


def run(script, *program):
    return subprocess.run(
        [sys.executable, *program, script], cwd=TESTS, capture_output=True, text=True, timeout=PATIENCE, check=False
    )


@pytest.mark.parametrize(
    ("case", "program"),
    [(case, ("-c",)) for case in CASES]
    + [(case, ("isolation/refused_calls.py", "pkey_alloc")) for case in WITHOUT_KEYS],
    ids=[*CASES, *(f"{case}, without keys" for case in WITHOUT_KEYS)],
)
def test_a_process_draws_and_exits(case, program):
    body, pictures = CASES[case]
    ended = run(f"{FIRST}{textwrap.dedent(body)}\nprint(len(done))", *program)
    assert (ended.returncode, ended.stdout.split()[-1:]) == (0, [str(pictures)]), ended.stderr
