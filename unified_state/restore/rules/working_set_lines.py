"""The lines of the working set and of the last turns."""

from __future__ import annotations

from unified_state.agents.transcripts.rules.call_effects import read_call
from unified_state.agents.transcripts.rules.failure_lines import names_place
from unified_state.lib.identifiers import identifiers, stands_in
from unified_state.lib.text import cut, estimate_tokens, one_line, utf16_units
from unified_state.memory.ledger.rules.item_lines import harmless, turn_lines
from unified_state.model.hook_event import WORKING_SET
from unified_state.model.known import TurnOutline
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT
from unified_state.restore.rules.knapsack import Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unified_state.model.known import Known, RanCommand, WorkingFile, WorkingSet
    from unified_state.model.step import Step
    from unified_state.restore.rules.knapsack import Offer


_NEWEST_CHARACTERS, _CHARACTERS = 700, 320
STORY_HEAD = "[LAST TURNS] the newest first"
_WORTH, _FADING = (
    12.0,
    0.85,
)  # of the newest turn, on the scale of the working set; factor from each turn to the one before
_QUOTED = 100  # compared characters of a prompt in a summary
_BY_CHANCE = 16  # a shorter prompt ("go on") may occur there by chance
_QUOTES = ('"{}"', "\u201c{}\u201d", "'{}'", "`{}`")


def story(known: Known) -> Iterator[tuple[str, float]]:
    """Yield the texts of the turns, the newest first, each with its worth."""
    summary, worth = one_line(known.summary or ""), _WORTH
    for turn in known.turns:
        prompt = one_line(turn.prompt)
        if prompt and (_is_quoted(prompt, summary) or not (turn.tool_calls or turn.answer)):
            continue  # the summary covers it, or nothing followed it
        limit = _NEWEST_CHARACTERS if worth == _WORTH else _CHARACTERS
        yield "\n".join(turn_lines(turn, known.now, limit)), worth
        worth *= _FADING


def _is_quoted(prompt: str, summary: str) -> bool:
    if len(prompt) < _BY_CHANCE:
        return any(quotes.format(prompt) in summary for quotes in _QUOTES)
    return prompt[:_QUOTED] in summary


# The most informative fields of a call that names no file and runs no command, in order of preference.
_TELLING_FIELDS = ("pattern", "url", "query", "description", "path", "prompt")
_MOST_ACTIONS, _ACTION_CHARACTERS = 8, 80
_OUTLINE_CHARACTERS = 2_000  # of a prompt or answer; its reader shortens it further


def outline(number: int, at: int, steps: Sequence[Step]) -> TurnOutline:
    """Return the outline of a turn from its steps in order."""
    calls = [step for step in steps if step.kind == TOOL_CALL]
    texts = [step.text for step in steps if step.kind == TEXT and step.text.strip()]
    prompts = [step.text for step in steps if step.kind == PROMPT] or [step.text for step in steps[:1]]
    return TurnOutline(
        number=number,
        at=at,
        prompt=cut("\n".join(prompts), _OUTLINE_CHARACTERS),
        actions=_actions(calls),
        tool_calls=len(calls),
        errors=sum(step.is_error for step in steps if step.kind == TOOL_RESULT),
        answer=cut(texts[-1], _OUTLINE_CHARACTERS) if texts else "",
    )


def _actions(calls: Sequence[Step]) -> tuple[str, ...]:
    """Return the distinct actions of a turn with their counts. Of many actions, return the last ones."""
    counts: dict[str, int] = {}
    for call in calls:
        action = f"{call.tool} {_target(call)}".strip()
        counts[action] = counts.pop(action, 0) + 1
    newest = list(counts.items())[-_MOST_ACTIONS:]
    return tuple(action if count == 1 else f"{action} ({count} times)" for action, count in newest)


def _target(step: Step) -> str:
    call = read_call(step)
    telling = (call.fields.get(name) for name in _TELLING_FIELDS)
    texts = (" ".join(call.files), call.command, *telling)
    return next((cut(one_line(text), _ACTION_CHARACTERS) for text in texts if isinstance(text, str) and text), "")


LOOSE, PROGRAMS, COMMANDS, REFERENCES, ERRORS = "also", "ran", "commands", "refs", "errors"
_FILE = "file "  # prefix of a file's group, because a file may be called `errors`
_EXPONENT = 0.75
_FILE_WORTH = 2.0
_NAMED_FILE, _NAMED_WORD = 0.3, 0.15  # factors on the worth of files and words that the summary names
_PLACES = 3  # most files under which one identifier is listed
_MOST_WORDS = 80  # most offered identifiers of one file
_ERROR_WORTH, _LOCATED_WORTH = 1.5, 6.0
_COMMAND_CHARACTERS, _OUTCOME_CHARACTERS = 160, 120
_TOKENS_PER_CHARACTER = 0.26  # of identifiers and paths in o200k, measured
_LONGEST_PATH = 200
_PATH_STARTS = "./~@_"  # in addition to letters and digits


class WorkingLines:
    """The offers of a working set, and the lines of the chosen ones."""

    def __init__(self, working_set: WorkingSet, summary: str) -> None:
        self._set = working_set
        self._summary = summary
        self._named = identifiers(summary)
        self._gone = {file.path: file.gone for file in working_set.files}
        self._hottest = max((file.hot for file in working_set.files), default=0.0) or 1.0
        self.groups: dict[str, Group] = {
            **{name: Group(WORKING_SET, f"{name}: ") for name in (LOOSE, PROGRAMS, REFERENCES)},
            COMMANDS: Group(WORKING_SET),
            ERRORS: Group(WORKING_SET),
        }

    def offers(self) -> list[Offer]:
        """Return offers for everything in the working set."""
        files = _merged(file for file in self._set.files if _is_tellable(file.path))
        offers = [*map(self._file, files), *self._words(files)]
        ended = [command for command in self._set.commands if command.last is not None]
        offers += [_offer(command.score**_EXPONENT, COMMANDS, _command_line(command)) for command in ended]
        for group, named in ((PROGRAMS, self._set.programs), (REFERENCES, self._set.references)):
            offers += [_offer(self._worth(score, name), group, name) for name, score in named]
        for error, score in self._set.errors:
            worth = _LOCATED_WORTH if names_place(error) else _ERROR_WORTH
            offers.append(_offer(worth * self._worth(score, error), ERRORS, f"error: {harmless(error)}"))
        return offers

    def lines(self) -> Iterator[str]:
        """Yield the chosen texts as lines."""
        for name, group in self.groups.items():
            if name in {COMMANDS, ERRORS}:
                yield from group.texts
            elif name in {LOOSE, PROGRAMS, REFERENCES}:
                if group.texts:
                    yield f"{name}: {(', ' if name == PROGRAMS else ' ').join(group.texts)}"
            elif group.texts:
                words = " ".join(filter(None, group.texts))
                path = self._titled(name.removeprefix(_FILE))
                yield f"{path}: {words}" if words else path

    def _worth(self, score: float, text: str) -> float:
        """Return the worth for a score, reduced if the summary contains the text."""
        return float(score**_EXPONENT * (_NAMED_WORD if stands_in(text, self._summary) else 1))

    def _file(self, file: WorkingFile) -> Offer:
        """Return the offer of a file. A file is a group with its own worth, and its path alone costs no more."""
        is_named = stands_in(file.path.rsplit("/", 1)[-1], self._summary)
        group = Group(WORKING_SET, worth=_FILE_WORTH * file.score**_EXPONENT * (_NAMED_FILE if is_named else 1))
        path = self._titled(file.path)
        group.tokens, group.units = _tokens(path) + 3, utf16_units(path) + 2
        self.groups[_FILE + file.path] = group
        return (0.0, 0.0, 0, _FILE + file.path, "")

    def _titled(self, path: str) -> str:
        """Return the path for display, with what became of a file that is gone."""
        return _shown(path) + (f" ({harmless(self._gone[path])})" if self._gone[path] else "")

    def _words(self, files: list[WorkingFile]) -> Iterator[Offer]:
        """Yield each identifier under the files where it matters most, or without a file if it was seen in none."""
        scores = dict(self._set.words)
        places: dict[str, list[tuple[float, str]]] = {}
        for file in files:
            heat = file.hot / self._hottest
            for word, score in () if file.gone else file.words[:_MOST_WORDS]:
                scores[word] = scores.get(word, 0.0) + score
                places.setdefault(word, []).append((heat * score**_EXPONENT + 0.05 * file.score, file.path))
        for word, score in scores.items():
            worth = score**_EXPONENT * (_NAMED_WORD if word in self._named else 1)
            found = sorted(places.get(word, []), reverse=True)[:_PLACES]
            if not found:
                yield _offer(worth, LOOSE, word)
            for position, (pair, path) in enumerate(found):
                yield _offer(pair + (worth if position == 0 else 0), _FILE + path, word)


def _offer(worth: float, group: str, text: str) -> Offer:
    return (worth, _tokens(text) + 0.6, utf16_units(text) + 2, group, text)


def _tokens(text: str) -> float:
    return _TOKENS_PER_CHARACTER * len(text) if text.isascii() else estimate_tokens(text)


def _is_tellable(path: str) -> bool:
    """Return whether a path is informative: a path of the repository that no program shortened."""
    return 2 < len(path) < _LONGEST_PATH and "…" not in path and path.isprintable()  # noqa: PLR2004  # `a/` says nothing


def _shown(path: str) -> str:
    """Return the path for display. `./` is added if it could look like another kind of line: `T7 (now) prompt: go`."""
    is_plain = (path[0].isalnum() or path[0] in _PATH_STARTS) and " " not in path
    return harmless(path if is_plain or path[0] in "./~" else f"./{path}")


def _merged(files: Iterable[WorkingFile]) -> list[WorkingFile]:
    """Return the files, with paths that are the end of exactly one other path (`hooks.py`, `src/hooks.py`) merged into
    it.
    """
    by_path = {file.path: file for file in files}
    ends: dict[str, list[str]] = {}
    for path in by_path:
        for position in [index for index, character in enumerate(path) if character == "/"]:
            ends.setdefault(path[position + 1 :], []).append(path)
    for path in sorted(by_path, key=len):
        longer = [other for other in ends.get(path.lstrip("/"), ()) if len(other) > len(path)]
        whole = max(longer, key=len, default="")
        if whole and all(whole.endswith(other) for other in longer):
            by_path[whole] = _both(by_path[whole], by_path.pop(path))
    return sorted(by_path.values(), key=lambda file: file.score, reverse=True)


def _both(known: WorkingFile, other: WorkingFile) -> WorkingFile:
    """Return the merge of one file that was seen under two names."""
    words = dict(known.words)
    for word, score in other.words:
        words[word] = words.get(word, 0.0) + score
    by_score = sorted(words.items(), key=lambda scored: scored[1], reverse=True)
    return known.replace(score=known.score + other.score, hot=known.hot + other.hot, words=tuple(by_score))


def _command_line(command: RanCommand) -> str:
    how = "failed" if command.failed else "ended"
    lines = dict.fromkeys(cut(harmless(line), _OUTCOME_CHARACTERS) for line in (*command.failing, command.last or ""))
    outcome = "; ".join(filter(None, lines)) or "no output"
    return f"command: {cut(harmless(command.command), _COMMAND_CHARACTERS)} -> {how}: {outcome}"
