"""The lines about the work in hand: what is not committed or not checked, what the agent found, what it ran."""

from __future__ import annotations

from math import log2

from unified_state.lib.identifiers import stands_in
from unified_state.lib.text import counted, cut, without_digits
from unified_state.memory.ledger.rules.item_lines import harmless
from unified_state.restore.rules.passages import chosen, passages

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from unified_state.model.known import Recent, Run

FOUND_TITLE, RAN_TITLE = "[FOUND]", "[RAN]"
_MOST_FILES, _MOST_CHECKS, _MOST_COMMITS = 8, 2, 4
_COMMIT_CHARACTERS, _CHECK_CHARACTERS = 80, 100
_COMMAND_CHARACTERS, _OUTCOME_CHARACTERS = 200, 120
# Worth on the scale of the working set: of a check, of a command whose outcome is one line or a failure, of another.
# Checks are run again whenever something was edited, so their worth halves at most.
_CHECK_WORTH, _VALUE_WORTH, _COMMAND_WORTH, _HALF_LIFE = 60.0, 20.0, 8.0, 40.0
_IN_SUMMARY = 0.4  # factor on the worth of a command that the summary quotes
_FOUND_WORTH = 4.0  # factor from the worth of a passage to that scale
_TEXTS = 60  # newest texts that are searched for passages
_ALIKE_WORDS = 3
_FAMILY = 3  # others from which alike commands are one line
# What the agent sees again with one command, and without effect.
_SHOWN_AGAIN = (["git", "status"], ["git", "diff"], ["git", "log"], ["git", "add"])


def now_lines(recent: Recent) -> Iterator[str]:
    """Yield the lines about edits that are not committed, and those that no check has seen."""
    newest_commit, since = recent.commits[0] if recent.commits else ("", None)
    files = [path for path, age in recent.edits if since is None or age < since]
    if files:
        after = (
            f"edited since {cut(harmless(newest_commit), _COMMIT_CHARACTERS)}" if newest_commit else "no commit seen"
        )
        yield f"  not committed ({after}): {_listed(files, recent.missing)}"
    waiting = [made for made, age in recent.commits if recent.pushed is None or age < recent.pushed]
    if waiting:
        told = "; ".join(cut(harmless(made), _COMMIT_CHARACTERS) for made in waiting[:_MOST_COMMITS])
        yield f"  committed, no push seen since: {told}"
    yield from _unchecked(recent)


def _unchecked(recent: Recent) -> Iterator[str]:
    """Yield the line about the checks that were run before the last edit and not since."""
    newest = min((age for _, age in recent.edits), default=0)
    checks = [run for run in recent.runs if run.checks]
    if checks and recent.edits and all(run.age > newest for run in checks):
        files = _listed([path for path, age in recent.edits if age < checks[0].age], recent.missing)
        told = ", ".join(f"`{cut(harmless(run.command), _CHECK_CHARACTERS)}`" for run in checks[:_MOST_CHECKS])
        yield f"  not run since the last edit of {files}: {told}"


def found_lines(recent: Recent, told: str) -> list[tuple[str, float]]:
    """Return the passages worth telling with their worth, the newest first."""
    texts = recent.texts[:_TEXTS]
    found = passages((text, number) for number, (text, _) in enumerate(texts))
    best = chosen([passage for passage in found if not _is_past(passage.text, texts[passage.age][1], recent)], told)
    best.sort(key=lambda scored: scored[0].age)
    return [(f"  - {harmless(passage.text)}", worth * _FOUND_WORTH) for passage, worth in best]


def _is_past(text: str, age: int, recent: Recent) -> bool:
    """Return whether a text names what was removed after it."""
    return any(age > removed and stands_in(name, text) for name, removed in recent.gone)


def run_lines(recent: Recent, summary: str) -> list[tuple[str, float]]:
    """Return the commands with their last outcomes and their worth, the newest first."""
    return [(_line(run), _worth(run, summary)) for run in _current(recent)]


def _worth(run: Run, summary: str) -> float:
    fresh = 0.5 ** (run.age / _HALF_LIFE)
    if run.checks:
        kind = _CHECK_WORTH * (0.5 + 0.5 * fresh)
    elif run.failed or run.lines == 1:
        kind = _VALUE_WORTH * fresh
    else:
        kind = _COMMAND_WORTH * fresh
    return float(kind * log2(1 + run.times) * (_IN_SUMMARY if run.command in summary else 1))


def _current(recent: Recent) -> list[Run]:
    """Return the runs that tell something now: of alike ones the newest, no solved failure, and none whose commands a
    later line holds.
    """
    kept: dict[tuple[str, ...], Run] = {}
    families = counted(map(_family, recent.runs))
    for run in recent.runs:
        is_told = any(run.parts and run.parts <= other.parts for other in kept.values())
        is_shown_again = all(_bare(part)[:2] in _SHOWN_AGAIN for part in run.parts)
        if not (is_told or is_shown_again or (run.failed and _is_passed(run, recent))):
            others = families[_family(run)] - 1
            alike = _alike(run) if others < _FAMILY else _family(run)
            first = kept.get(alike, run.replace(alike=others if others >= _FAMILY else 0, times=0))
            kept[alike] = first.replace(times=first.times + run.times)
    return list(kept.values())


def _alike(run: Run) -> tuple[str, ...]:
    """Return what alike commands have in common: what shows content is told by its first words, without options."""
    if run.failed or not run.shows:
        return (run.command,)
    return tuple(_bare(run.command)[:_ALIKE_WORDS])


def _family(run: Run) -> tuple[str, ...]:
    """Return what commands have in common that differ only in their numbers and ended in the same way."""
    return (without_digits(run.command), run.last, str(run.failed))


def _bare(command: str) -> list[str]:
    """Return the words of a command without options and absolute paths."""
    return [word for word in command.split() if not word.startswith(("-", "/", "~"))]


def _is_passed(run: Run, recent: Recent) -> bool:
    """Return whether a later run passed that had all commands of this one, or, after an edit, one of the same name."""
    later = [other for other in recent.runs if not other.failed and other.age < run.age]
    if any(run.parts and run.parts <= other.parts for other in later):
        return True
    names = {_name(part) for part in run.parts}
    edits = [age for _, age in recent.edits if age < run.age]
    return any(
        names and names <= {_name(part) for part in other.parts} and any(other.age < age for age in edits)
        for other in later
    )


def _name(part: str) -> str:
    """Return the first words of a command, up to an option or a path: `go test`."""
    words = part.split()
    end = next((at for at, word in enumerate(words) if word.startswith("-") or "/" in word), len(words))
    return " ".join(words[: max(1, end)])


def _line(run: Run) -> str:
    command = f"command: {cut(harmless(run.command), _COMMAND_CHARACTERS)}"
    command += f" (and {run.alike} alike)" if run.alike else ""
    command += " (its script or target is gone now)" if run.gone else ""
    if run.shows and not run.failed and run.lines > 1:
        return command
    how = "failed" if run.failed else "ended"
    lines = dict.fromkeys(cut(harmless(line), _OUTCOME_CHARACTERS) for line in (*run.failing, run.last))
    outcome = "; ".join(filter(None, lines)) or "no output"
    return f"{command} -> {how}: {outcome}"


def _listed(paths: Sequence[str], missing: Sequence[str]) -> str:
    """Return the paths in one line, with a mark at those that are not in the working tree now."""
    more = f" and {len(paths) - _MOST_FILES} more" if len(paths) > _MOST_FILES else ""
    marked = (f"{harmless(path)} (gone)" if path in missing else harmless(path) for path in paths[:_MOST_FILES])
    return ", ".join(marked) + more
