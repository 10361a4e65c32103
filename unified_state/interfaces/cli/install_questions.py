"""What `install` asks a person at a terminal: for which projects, reading without asking, status line.

Nobody is asked who cannot answer: no terminal, an agent in the environment, `--json`, or `--yes`. Nothing is written
before the last answer, so ^C leaves everything as it was.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping

from unified_state.agents.install.claude_settings import settings_in
from unified_state.agents.install.hook_table import handles, our_handlers
from unified_state.agents.install.install_claude_code import READ_ONLY_RULES, Choices, allows_reading, target
from unified_state.agents.install.status_line_entry import is_our_status_line
from unified_state.agents.transcripts.rules.hosts import is_agents

LOCAL, USER = "local", "user"
_STOP = "SessionEnd"  # an event that every installation of ours handles


def choose(
    worktree: str, environ: Mapping[str, str], scope: str | None, choices: Choices, *, is_asked: bool
) -> tuple[str, Choices]:
    """Return the scope and the user's choices: those given as options, else their answers at the terminal. Where nobody
    is asked, the answers are those that would have been proposed.
    """
    ask = _ask if is_asked else _take
    if is_asked and None in (scope, choices.reading, choices.status_line):
        _tell("Enter takes the answer in capital letters. ^C ends, and writes nothing.\n")
    if scope is None:
        everywhere = _is_installed(worktree, environ, USER) and not _is_installed(worktree, environ, LOCAL)
        chosen = ask("Remember for this project only, or for all your projects?", "pa", "a" if everywhere else "p")
        scope = USER if chosen == "a" else LOCAL
    settings = settings_in(target(scope, worktree, environ).settings_path)
    known = bool(our_handlers(settings))
    reading, status_line = choices.reading, choices.status_line
    if reading is None:
        default = allows_reading(settings) if known else True
        count = len(READ_ONLY_RULES)
        question = f"May the agent look up what is remembered without asking you ({count} commands that only read)?"
        reading = ask(question, "yn", "y" if default else "n") == "y"
    if status_line is None:
        other = settings.get("statusLine") if isinstance(settings, dict) else None
        default = is_our_status_line(other) if known or other else True
        question = "Show in the client's status line how full its context is?"
        status_line = ask(question, "yn", "y" if default else "n") == "y"
    return scope, choices.replace(reading=reading, status_line=status_line)


def may_ask(environ: Mapping[str, str]) -> bool:
    """Return whether a person is at the terminal, and no agent started this process."""
    return sys.stdin.isatty() and sys.stderr.isatty() and not is_agents(environ)


def _is_installed(worktree: str, environ: Mapping[str, str], scope: str) -> bool:
    settings = settings_in(target(scope, worktree, environ).settings_path)
    return bool(our_handlers(settings, _STOP)) and handles(settings, _STOP)


def _ask(question: str, letters: str, default: str) -> str:
    """Return the letter of the answer."""
    shown = "/".join(letter.upper() if letter == default else letter for letter in letters)
    while True:
        _tell(f"{question} [{shown}] ")
        line = sys.stdin.readline()
        if not line:
            raise KeyboardInterrupt  # ^D ends as ^C does
        answer = line.strip().lower()[:1] or default
        if answer in letters:
            return answer
        _tell(f"Please answer {' or '.join(letters)}.\n")


def _take(_question: str, _letters: str, default: str) -> str:
    return default


def _tell(text: str) -> None:
    sys.stderr.write(text)
    sys.stderr.flush()
