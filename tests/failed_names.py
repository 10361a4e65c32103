"""A plugin of pytest that writes the names of the tests that failed into a file, one on each line."""

from __future__ import annotations

from pathlib import Path

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    """The file."""
    parser.addoption("--failed-names", default="")


@pytest.hookimpl(trylast=True)
def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Write it, where one was named."""
    path = str(config.getoption("--failed-names"))
    failed = [*terminalreporter.stats.get("failed", []), *terminalreporter.stats.get("error", [])]
    names = dict.fromkeys(report.nodeid for report in failed)
    if path and not hasattr(config, "workerinput"):
        Path(path).write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
