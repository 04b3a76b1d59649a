"""What the parts of the zoo share: their tables, printed after the run."""

import pytest

LINES = pytest.StashKey[list[str]]()


@pytest.fixture(scope="session")
def report(pytestconfig):
    """Adds a line to the tables."""
    return pytestconfig.stash.setdefault(LINES, []).append


def pytest_terminal_summary(terminalreporter, config):
    lines = config.stash.get(LINES, [])
    if lines:
        terminalreporter.section("zoo")
    for line in lines:
        terminalreporter.write_line(line)
