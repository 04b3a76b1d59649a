"""Runs documentation tools without importing them or PyTorch again, which would take longer than most builds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from modeldiagrams.worker.forks import Forks

TIMEOUT = 900

# A build with environment variables of its own has a template of its own, too: models may look at them.
_PROGRAM = f"""
import functools, gc, json, os, signal, socket, sys
import jinja2
from modeldiagrams.worker.forks import Forks
{{imports}}
template, own_template = socket.socket(fileno=int(sys.argv[1])), Forks._running

def shared_template(forks):
    return own_template(forks) if forks._python or forks._gpu else template

class Templates(jinja2.FileSystemBytecodeCache):
    # compiling those of a theme takes half of the time of a small site
    def get_bucket(self, environment, name, filename, source):
        made_with = [type(environment), sorted(environment.extensions), environment.autoescape is True]
        return super().get_bucket(environment, name, f"{{{{made_with}}}} {{{{filename}}}}", source)

templates, make_environment = Templates(sys.argv[2]), jinja2.Environment.__init__

@functools.wraps(jinja2.Environment.__init__)
def with_templates(environment, *words, **options):
    make_environment(environment, *words, **dict(bytecode_cache=templates) | options)

jinja2.Environment.__init__ = with_templates
# no run looks for garbage among what was imported, which would also copy its memory
gc.freeze()

for line in sys.stdin:
    arguments, environment, stdout, stderr = json.loads(line)
    child = os.fork()
    if not child:
        signal.alarm({TIMEOUT})
        for number, file in enumerate((os.devnull, stdout, stderr)):
            os.dup2(os.open(file, os.O_RDWR), number)
        os.environ.update(environment)
        if not environment:
            Forks._running = shared_template
        sys.exit(main(arguments))
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""

_IMPORTS = {
    "sphinx": """
import importlib
from sphinx.application import builtin_extensions
from sphinx.cmd.build import main
others = ("sphinx.ext.autosummary", "sphinx.ext.napoleon", "myst_parser", "sphinx_modeldiagrams")
for name in (*builtin_extensions, *others):
    importlib.import_module(name)
""",
    "mkdocs": """
import importlib
from mkdocs.__main__ import cli as main
for name in ("mkdocs.commands.build", "mkdocs_modeldiagrams", "pymdownx.superfences", "pymdownx.extra", "material"):
    importlib.import_module(name)
""",
}


class Tools:
    """Documentation tools and PyTorch, each imported by one process when a test needs it first."""

    def __init__(self) -> None:
        """Start nothing yet."""
        self._forks = Forks(None, gpu=False)
        self._servers: dict[str, ForkServer] = {}
        self._templates = tempfile.TemporaryDirectory()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for server in self._servers.values():
            server.close()
        self._forks.close()
        self._templates.cleanup()

    @contextmanager
    def lending(self) -> Iterator[None]:
        """Models that this process traces are forks of the same template."""
        own = Forks._running
        Forks._running = lambda forks: own(forks if forks._python or forks._gpu else self._forks)
        try:
            yield
        finally:
            Forks._running = own

    def __getitem__(self, name: str) -> ForkServer:
        """A tool, by its command as ``python -m`` takes it."""
        if name not in self._servers:
            self._servers[name] = ForkServer(name, self._forks._running().fileno(), self._templates.name)
        return self._servers[name]


class ForkServer:
    """A process with a documentation tool imported, of which each run is a fork."""

    def __init__(self, module: str, template: int, templates: str) -> None:
        """Start it.

        Args:
            module: The tool's command, as ``python -m`` takes it.
            template: Control socket of the process that models are forks of.
            templates: Folder for compiled templates of pages.
        """
        self._module = module
        command = [sys.executable, "-c", _PROGRAM.format(imports=_IMPORTS[module]), str(template), templates]
        self._process = subprocess.Popen(
            command, text=True, env=_environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, pass_fds=[template]
        )

    def close(self) -> None:
        """End it."""
        with self._process as process:
            process.stdin.close()

    def run(self, arguments: list[str], *, fresh: bool = False, **environment: str) -> subprocess.CompletedProcess[str]:
        """Run the tool.

        Args:
            arguments: Of its command.
            fresh: Whether to start Python anew, as users do.
            environment: Environment variables.
        """
        if fresh:
            command = [sys.executable, "-m", self._module, *arguments]
            env = _environment(**environment)
            return subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT, check=False, env=env)
        with tempfile.NamedTemporaryFile("r") as stdout, tempfile.NamedTemporaryFile("r") as stderr:
            print(json.dumps([arguments, environment, stdout.name, stderr.name]), file=self._process.stdin, flush=True)
            code = int(self._process.stdout.readline())
            return subprocess.CompletedProcess(arguments, code, stdout.read(), stderr.read())


def _environment(**more: str) -> dict[str, str]:
    return {**os.environ, "NO_COLOR": "1", "NO_MKDOCS_2_WARNING": "1", **more}
