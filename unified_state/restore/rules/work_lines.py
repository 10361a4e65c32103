"""The lines about the work in hand: what stands now, and what the agent ran."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.shell.shell_commands import PRINTING, SEARCHING
from unified_state.lib.text import counted, cut, estimate_tokens
from unified_state.model.known import RecentWork, RestoreInput, Run
from unified_state.model.session_state import GitState
from unified_state.restore.rules.value import Piece

_MOST_FILES, _MOST_CHECKS, _MOST_COMMITS = 12, 2, 4
_COMMIT_CHARACTERS, _CHECK_CHARACTERS, _FILES_CHARACTERS = 80, 100, 320
_COMMAND_CHARACTERS, _OUTCOME_CHARACTERS = 240, 160
_NOT_CODE = (".md", ".txt", ".rst", ".adoc")
# Weights of a command that checks the code, of one that failed or printed one line, and of another.
_CHECK, _OUTCOME, _COMMAND = 4.0, 3.0, 2.0

# What the agent sees again with one command, and without effect.
_SHOWN_AGAIN = ("git status", "git diff", "git log", "git add")
# What only shows files: `[FILES]` and `[LAST STEPS]` have these.
_READING = PRINTING | SEARCHING | {"find", "ls"}


def now_lines(known: RestoreInput) -> Iterator[str]:
    """Yield the lines about what stands now: git, edits without a commit, commands without a result, checks."""
    recent = known.recent
    if known.git is not None and known.git_is_current:
        yield from git_lines(known.git)
    waiting = [made for made, age in recent.commits if recent.pushed is None or age < recent.pushed]
    if waiting:
        told = "; ".join(cut(harmless(made), _COMMIT_CHARACTERS) for made in waiting[:_MOST_COMMITS])
        more = f"; and {len(waiting) - _MOST_COMMITS} before them" if len(waiting) > _MOST_COMMITS else ""
        yield f"  committed, and no push seen since: {told}{more}"
    for command in recent.without_result:
        yield f"  no result was archived of: {cut(harmless(command), _COMMAND_CHARACTERS)}"
    yield from _unchecked(recent)


def git_lines(git: GitState) -> Iterator[str]:
    """Yield the lines about the state of git."""
    if git.branch is None and git.commit is None:
        return
    at = f" at {git.commit[:10]}" if git.commit else ""
    under_way = f", {git.operation} under way" if git.operation else ""
    branch = harmless(git.branch) if git.branch else "detached HEAD"
    yield f"  [GIT] {branch}{at}, {counted(git.changed_count, 'changed path')}{under_way}"
    if git.modified_files:
        yield f"  changed: {cut(harmless(', '.join(git.modified_files)), _FILES_CHARACTERS)}"
    if git.recent_commits:
        yield f"  latest commit: {cut(harmless(git.recent_commits[0]), _FILES_CHARACTERS)}"


def _unchecked(recent: RecentWork) -> Iterator[str]:
    """Yield the line about the checks that were run before the last edit of code and not since."""
    edits = [(path, age) for path, age in recent.edits if not path.endswith(_NOT_CODE)]
    checks = [run for run in recent.runs if run.checks]
    if checks and edits and all(run.age > edits[0][1] for run in checks):
        files = _listed([path for path, age in edits if age < checks[0].age])
        commands = dict.fromkeys(f"`{cut(harmless(run.command), _CHECK_CHARACTERS)}`" for run in checks)
        told = ", ".join(list(commands)[:_MOST_CHECKS])
        yield f"  not run since the last edit of {files}: {told}"


def _listed(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _MOST_FILES} more" if len(paths) > _MOST_FILES else ""
    return ", ".join(map(harmless, paths[:_MOST_FILES])) + more


def run_pieces(recent: RecentWork) -> list[Piece]:
    """Return the commands with how their last runs ended, the newest first.

    A failure that a later run solved, and a command that a later line holds, is not told.
    """
    told: list[Run] = []
    for run in recent.runs:
        is_shown_again = all(part.startswith(_SHOWN_AGAIN) for part in run.parts)
        is_shown_again |= not _has_outcome(run) and _READING.issuperset(part.split()[0] for part in run.parts)
        is_held = any(run.parts and run.parts <= later.parts for later in told)
        if not (is_shown_again or is_held or (run.failed and _is_solved(run, recent))):
            told.append(run)
    return [
        Piece(text=(line := _line(run)), tokens=estimate_tokens(f"{line}\n"), age=run.age, weight=_weight(run))
        for run in told
    ]


def _has_outcome(run: Run) -> bool:
    """Return whether the last line of its output says how a run ended, and is not just the end of what it showed."""
    return run.failed or not run.shows or run.lines <= 1


def _weight(run: Run) -> float:
    return _CHECK if run.checks else _OUTCOME if run.failed or run.lines == 1 else _COMMAND


def _is_solved(run: Run, recent: RecentWork) -> bool:
    """Return whether later runs passed that had all commands of this one, or, after an edit, some of the same names."""
    later = [other for other in recent.runs if not other.failed and other.age < run.age]
    if run.parts and run.parts <= {part for other in later for part in other.parts}:
        return True
    edited = max((age for _, age in recent.edits if age < run.age), default=0)
    names = {_name(part) for part in run.parts}
    return bool(names) and names <= {_name(part) for other in later if other.age < edited for part in other.parts}


def _name(part: str) -> str:
    """Return the first words of a command, up to an option or a path: `go test`."""
    words = part.split()
    end = next((at for at, word in enumerate(words) if word.startswith("-") or "/" in word), len(words))
    return " ".join(words[: max(1, end)])


def _line(run: Run) -> str:
    command = f"  $ {cut(harmless(run.command), _COMMAND_CHARACTERS)}"
    if run.goes_on:
        return f"{command} -> in the background, no end seen"
    if not _has_outcome(run):
        return command
    how = "failed" if run.failed else "ended"
    lines = dict.fromkeys(cut(harmless(line), _OUTCOME_CHARACTERS) for line in (*run.failing, run.last))
    return f"{command} -> {how}: {'; '.join(filter(None, lines)) or 'no output'}"
