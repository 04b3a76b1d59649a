"""The command that records how a project calls its models."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from modeldiagrams.api.terminal import PARTIAL, CommandError, echo, report_errors
from modeldiagrams.options.settings import CALLS
from modeldiagrams.record.calls import calls_file
from modeldiagrams.record.run import end_run, run_command, start_run
from modeldiagrams.record.stale_calls import stale_calls

__all__ = ["record_command"]


@click.command("record")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@click.option(
    "--docs",
    type=click.Path(exists=True, file_okay=False, path_type=Path),
    help="The folder of conf.py (Sphinx) or mkdocs.yml (MkDocs); by default the current folder, or docs in it.",
)
@click.option("--only", multiple=True, metavar="PATTERN", help="Record only classes with such names: 'mypkg.models.*'.")
@click.option("--all", "all_classes", is_flag=True, help="Record also classes that the documentation doesn't name.")
@click.option("--snapshot", is_flag=True, help="Trace calls that can't be written, and keep their graphs.")
@click.option("--check", is_flag=True, help="Run the recorded calls, and exit with 1 if one no longer works.")
def record_command(  # noqa: PLR0913  (one for each flag)
    command: tuple[str, ...],
    docs: Path | None,
    *,
    only: tuple[str, ...],
    all_classes: bool,
    snapshot: bool,
    check: bool,
) -> None:
    """Record how tests and examples call the models, for diagrams without options.

    COMMAND runs them: `modeldiagrams record -- pytest tests`, or `modeldiagrams record -- python examples/demo.py`. For
    each class that the documentation names, the constructor arguments and inputs of one call go to the file
    `model-calls.yaml`, next to the configuration of the documentation. Commit it.
    """
    with report_errors():
        if check:
            file = docs / CALLS if docs else calls_file(Path.cwd())
            if not file.exists():
                raise CommandError(f"there is no {file}; write it with `modeldiagrams record -- pytest`")
            stale = [*stale_calls(file)]
            for line in stale:
                echo(line)
            sys.exit(PARTIAL if stale else 0)
        if not command:
            raise CommandError("expected a command that runs tests or an example: `modeldiagrams record -- pytest`")
        settings = start_run(docs, only=only, all_classes=all_classes, snapshot=snapshot)
        status = run_command(command)
        for line in end_run(settings):
            echo(line, err=True)
        if status:
            echo(f"{command[0]} ended with exit status {status}: calls of what did not run are missing", err=True)
    sys.exit(status)
