"""What the parts of the zoo share."""

import pytest


@pytest.fixture(scope="module")
def report(request):
    """Writes a line of a table to the terminal, also when tests pass."""
    return request.config.pluginmanager.get_plugin("terminalreporter").write_line
