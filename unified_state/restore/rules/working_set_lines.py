"""The lines of the working set and of the last turns."""

from __future__ import annotations

from unified_state.agents.transcripts.rules.about_work import is_about_work
from unified_state.agents.transcripts.rules.call_effects import read_call
from unified_state.lib.identifiers import identifiers, stands_in
from unified_state.lib.text import counted, cut, estimate_tokens, one_line, utf16_units, without_digits
from unified_state.memory.ledger.rules.item_lines import harmless, turn_lines
from unified_state.model.hook_event import WORKING_SET
from unified_state.model.known import TurnOutline
from unified_state.model.step import PROMPT, TEXT, TOOL_CALL, TOOL_RESULT
from unified_state.restore.rules.knapsack import Group

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unified_state.model.known import Known, WorkingFile, WorkingSet
    from unified_state.model.step import Step
    from unified_state.restore.rules.knapsack import Offer


_NEWEST_CHARACTERS, _CHARACTERS = 700, 320
STORY_HEAD = "[LAST TURNS] the newest first"
# Of the newest turn and of the prompt before it, on the scale of the working set; factor from each prompt to the one
# before.
_NEWEST_WORTH, _WORTH, _FADING = 100.0, 9.0, 0.85
_OWN_COMMAND = "/context-compact"
_QUOTED = 100  # compared characters of a prompt in a summary
_BY_CHANCE = 16  # a shorter prompt ("go on") may occur there by chance
_QUOTES = ('"{}"', "\u201c{}\u201d", "'{}'", "`{}`")


def story(known: Known) -> Iterator[tuple[str, float]]:
    """Yield the texts of the turns, the newest first, each with its worth: the newest turn, and the prompts of others.

    The commands, files and passages tell what came of them. A history of an early version has no files, so each of its
    turns tells that itself.
    """
    summary = one_line(known.summary or "")
    newest, worth = True, _WORTH
    is_early = known.working_set is not None and not known.working_set.files
    for turn in known.turns:
        prompt = one_line(turn.prompt)
        if prompt and (_is_quoted(prompt, summary) or not (turn.tool_calls or turn.answer) or is_own(prompt)):
            continue  # the summary covers it, nothing followed it, or it asked for the compaction
        shown = turn if newest or not prompt or is_early else turn.replace(tool_calls=0, answer="")
        limit = _NEWEST_CHARACTERS if newest else _CHARACTERS
        yield "\n".join(turn_lines(shown, known.now, limit)), _NEWEST_WORTH if newest else worth
        newest, worth = False, worth * _FADING


def is_own(prompt: str) -> bool:
    """Return whether a prompt is our slash command."""
    return prompt.startswith("<command-") and _OWN_COMMAND in prompt


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
    made = {step.tool_use_id: read_call(step) for step in steps if step.kind == TOOL_CALL}
    work = [step for step in steps if is_about_work(step, made.get(step.tool_use_id))]
    calls = [step for step in work if step.kind == TOOL_CALL]
    texts = [step.text for step in steps if step.kind == TEXT and step.text.strip()]
    prompts = [step.text for step in steps if step.kind == PROMPT] or [step.text for step in steps[:1]]
    return TurnOutline(
        number=number,
        at=at,
        prompt=cut("\n".join(prompts), _OUTLINE_CHARACTERS),
        actions=_actions(calls),
        tool_calls=len(calls),
        errors=sum(step.is_error for step in work if step.kind == TOOL_RESULT),
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


_FILE = "file "  # prefix of a file's group
_EXPONENT = 0.75
_FILE_WORTH = 2.0
_LEAST_BARE = 1.0  # score of a file that is told without an identifier, if nobody edited it
_NAMED_FILE, _NAMED_WORD = 0.3, 0.15  # factors on the worth of files and words that the summary names
_PLACES = 3  # most files under which one identifier is listed
_MOST_WORDS, _MOST_READ_WORDS = 80, 14  # most offered identifiers of one file, and of one that is hardly edited
_EDITED = 0.05  # share of the heat of the hottest file
_TOKENS_PER_CHARACTER = 0.26  # of identifiers and paths in o200k, measured
_LONGEST_PATH = 200
_MOST_ABSENT, _LEAST_ABSENT = 6, 3.0  # identifiers that are named as gone, and the score of the least of them
_FAMILY = 3  # files; more that differ only in their numbers are one line
_PATH_STARTS = "./~@_"  # in addition to letters and digits


class WorkingLines:
    """The offers of a working set, and the lines of the chosen ones."""

    def __init__(self, working_set: WorkingSet, summary: str, gone: Iterable[str] = (), *, least: float = 0.0) -> None:
        self._set = working_set
        self._summary = summary
        self._named = identifiers(summary)
        self._fates = {file.path: file.gone for file in working_set.files}
        self._gone = frozenset(gone)
        self._least = least
        self._worths: dict[str, float] = {}
        self._alike: dict[str, tuple[str, int]] = {}  # the first file of a family and the number of the others
        self._hottest = max((file.hot for file in working_set.files), default=0.0) or 1.0
        self.groups: dict[str, Group] = {}

    def offers(self) -> list[Offer]:
        """Return offers for everything in the working set."""
        files = _merged(
            file for file in self._set.files if _is_tellable(file.path) and (file.gone or file.path not in self._gone)
        )
        files = self._without_alike(files)
        for file in files:
            self._add_group(file)
        bare = (file for file in files if not self._least or file.hot > 0 or _says_bare(file))
        return [*((0.0, 0.0, 0, _FILE + file.path, "") for file in bare), *self._words(files)]

    def absent_line(self) -> str:
        """Return the line with the identifiers that mattered and are in none of the files now, or ""."""
        kept = {word for file in self._set.files for word, _ in file.words}
        scores: dict[str, tuple[float, str]] = {}
        for file in self._set.files:
            for word, score in file.absent:
                if score >= _LEAST_ABSENT and word not in kept and word not in self._gone:
                    scores[word] = max(scores.get(word, (0.0, "")), (score, file.path))
        best = sorted(scores, key=scores.__getitem__, reverse=True)[:_MOST_ABSENT]
        told = ", ".join(f"{word} ({scores[word][1].rsplit('/', 1)[-1]})" for word in best)
        return f"not in them now: {harmless(told)}" if told else ""

    def _without_alike(self, files: list[WorkingFile]) -> list[WorkingFile]:
        """Return the files; of those without identifiers or edits that differ only in their numbers the first one."""
        sizes = counted(without_digits(file.path) for file in files if _is_bare(file))
        kept = []
        for file in files:
            family = without_digits(file.path)
            is_alike = _is_bare(file) and sizes[family] > _FAMILY
            if not is_alike or family not in self._alike:
                kept.append(file)
            if is_alike:
                self._alike.setdefault(family, (file.path, sizes[family] - 1))
        return kept

    def lines(self) -> Iterator[str]:
        """Yield the chosen files as lines, each with its identifiers, the worthiest first."""
        for name, group in self.groups.items():
            if group.texts:
                path, words = self._titled(name.removeprefix(_FILE)), list(filter(None, group.texts))
                words.sort(key=self._worths.__getitem__, reverse=True)
                yield f"{path}: {' '.join(words)}" if words else path

    def _add_group(self, file: WorkingFile) -> None:
        """Add the group of a file, which has a worth of its own."""
        is_named = stands_in(file.path.rsplit("/", 1)[-1], self._summary)
        worth = _FILE_WORTH * file.score**_EXPONENT * (_NAMED_FILE if is_named else 1)
        group = Group(WORKING_SET, worth=worth, least=self._least)
        path = self._titled(file.path)
        group.tokens, group.units = _tokens(path) + 3, utf16_units(path) + 2
        self.groups[_FILE + file.path] = group

    def _titled(self, path: str) -> str:
        """Return the path for display, with what became of a file that is gone."""
        first, others = self._alike.get(without_digits(path), ("", 0))
        alike = f" (and {others} alike)" if path == first else ""
        return _shown(path) + (f" ({harmless(self._fates[path])})" if self._fates[path] else alike)

    def _words(self, files: list[WorkingFile]) -> Iterator[Offer]:
        """Yield each identifier under the files where it matters most."""
        scores = dict(self._set.words)
        places: dict[str, list[tuple[float, str]]] = {}
        for file in files:
            heat = file.hot / self._hottest
            kept = [] if file.gone else [scored for scored in file.words if scored[0] not in self._gone]
            for word, score in kept[: _MOST_WORDS if heat > _EDITED else _MOST_READ_WORDS]:
                scores[word] = scores.get(word, 0.0) + score
                places.setdefault(word, []).append((heat * score**_EXPONENT + 0.05 * file.score, file.path))
        for word, score in scores.items():
            worth = score**_EXPONENT * (_NAMED_WORD if word in self._named else 1)
            found = sorted(places.get(word, []), reverse=True)[:_PLACES]
            self._worths[word] = worth
            for position, (pair, path) in enumerate(found):
                yield _offer(pair + (worth if position == 0 else 0), _FILE + path, word)


def _offer(worth: float, group: str, text: str) -> Offer:
    return (worth, _tokens(text) + 0.6, utf16_units(text) + 2, group, text)


def _tokens(text: str) -> float:
    return _TOKENS_PER_CHARACTER * len(text) if text.isascii() else estimate_tokens(text)


def _says_bare(file: WorkingFile) -> bool:
    """Return whether a path without identifiers is worth telling."""
    return file.score >= _LEAST_BARE and "/" in file.path


def _is_bare(file: WorkingFile) -> bool:
    return not (file.words or file.hot or file.gone)


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
    absent = (*known.absent, *other.absent)
    score, hot = known.score + other.score, known.hot + other.hot
    return known.replace(score=score, hot=hot, words=tuple(by_score), absent=absent)
