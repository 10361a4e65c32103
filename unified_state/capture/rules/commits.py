"""Find git commits and pull requests in the output of the commands that created them.

Only the output of the creating command counts. A log or a file that shows a commit is not evidence.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unified_state.lib.shell.shell_commands import simple_commands
from unified_state.model.constraint import OBSERVED
from unified_state.model.item import EVIDENCE, Fact

COMMIT, PULL_REQUEST = "commit", "pull_request"
MAKES_COMMITS = ("commit", "cherry-pick", "revert")
_OPTIONS_WITH_VALUE = ("-C", "-c", "--git-dir", "--work-tree", "--namespace")
_ADDRESS = re.compile(r"https://.*/(?:pull|merge_requests|pull-requests)/\d+")
_MADE = re.compile(r"\[([^\]]+?)(?: \(root-commit\))? ([0-9a-f]{7,64})\] (.*)")  # a line in which git reports a commit
_DRY = "--dry-run"


def may_make(call_text: str) -> bool:
    """Return whether a shell command contains a word of a command that creates a commit or pull request."""
    return any(word in call_text for word in (*MAKES_COMMITS, "pr create", "mr create"))


def commits(command: str, output: str) -> Iterator[Fact]:
    """Yield the commits that a git command reports: `[main 1a2b3c4] Subject`."""
    if not any(_git_verb(words) in MAKES_COMMITS and _DRY not in words for words in simple_commands(command)):
        return
    for line in output.split("\n"):
        if made := _MADE.match(line):
            branch, commit, subject = made.groups()
            body = {"type": COMMIT, "content": f"{commit} {subject}", "source": f"git commit on {branch}"}
            yield Fact(COMMIT, EVIDENCE, OBSERVED, "active", body, line)


def pull_requests(command: str, output: str) -> Iterator[Fact]:
    """Yield the address of the pull request that `gh pr create` or `glab mr create` reports."""
    made = any(
        words[:3] in (["gh", "pr", "create"], ["glab", "mr", "create"]) and _DRY not in words
        for words in simple_commands(command)
    )
    address = next((word for word in reversed(output.split()) if _ADDRESS.fullmatch(word)), None) if made else None
    if address is not None:
        body = {"type": PULL_REQUEST, "content": address, "source": command.split("\n", 1)[0][:200]}
        yield Fact(PULL_REQUEST, EVIDENCE, OBSERVED, "active", body, address)


def _git_verb(words: list[str]) -> str:
    """Return the subcommand of a git command line, or "" for other programs."""
    if not words or words[0].rsplit("/", 1)[-1] != "git":
        return ""
    position = 1
    while position < len(words) and words[position].startswith("-"):
        position += 2 if words[position] in _OPTIONS_WITH_VALUE else 1
    return words[position] if position < len(words) else ""
