"""What of a working set could be told, and how: `path: identifiers` one line a file, commands with their outcome,
references.

The worth of an identifier is its score, which grows less than linearly: what was seen a hundred times is not ten times
as needed as what was seen ten times. Beside a file that is being edited an identifier is worth more, since the two
together say where to go on. What the client's summary says already is worth little.
"""

from __future__ import annotations

from unified_state.records.restore import WORKING_SET
from unified_state.rules.choosing import Group
from unified_state.rules.cutting import cut
from unified_state.rules.lines import harmless
from unified_state.rules.vocabulary import identifiers

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from unified_state.records.working_set import RanCommand, WorkingFile, WorkingSet
    from unified_state.rules.choosing import Offer

LOOSE, PROGRAMS, COMMANDS, REFERENCES, ERRORS = "also", "programs", "commands", "references", "errors"
_EXPONENT = 0.65
_FILE_WORTH, _LOOSE_WORTH, _PAIR_WORTH = 1.0, 1.0, 1.0
_NAMED_FILE, _NAMED_WORD = 0.3, 0.15  # what is left of the worth of what the summary names
_PLACES = 3  # files under which one identifier is told at most
_MOST_WORDS = 80  # of one file that are offered
_COMMAND_WORTH, _ERROR_WORTH = 1.0, 2.0
_COMMAND_CHARACTERS, _OUTCOME_CHARACTERS = 160, 120
_TOKENS_PER_CHARACTER = 0.26  # of identifiers and paths in o200k, measured
_LONGEST_PATH = 120


class WorkingLines:
    """The offers of a working set, and their rendering once they were chosen."""

    def __init__(self, working_set: WorkingSet, summary: str) -> None:
        self._set = working_set
        self._summary = summary
        self._named = identifiers(summary)
        self._hottest = max((file.hot for file in working_set.files), default=0.0) or 1.0
        self.groups: dict[str, Group] = {
            LOOSE: Group(WORKING_SET, "also: "),
            PROGRAMS: Group(WORKING_SET, "ran: "),
            REFERENCES: Group(WORKING_SET, "refs: "),
            COMMANDS: Group(WORKING_SET),
            ERRORS: Group(WORKING_SET),
        }

    def offers(self) -> list[Offer]:
        """Everything that could be told."""
        files = _merged(file for file in self._set.files if _is_tellable(file.path))
        offers = [self._file(file) for file in files]
        offers += self._words(files)
        offers += self._commands()
        for reference, score in self._set.references:
            worth = score**_EXPONENT * (_NAMED_WORD if reference in self._summary else 1)
            offers.append(_offer(worth, REFERENCES, reference))
        for error, score in self._set.errors:
            offers.append(_offer(_ERROR_WORTH * score**_EXPONENT, ERRORS, f"error: {harmless(error)}"))
        return offers

    def lines(self) -> Iterator[str]:
        """What was chosen, as lines."""
        for path, group in self.groups.items():
            words = [text for text in group.texts if text != path]
            if path in {COMMANDS, ERRORS}:
                yield from words
            elif path in {LOOSE, REFERENCES, PROGRAMS}:
                if words:
                    yield f"{_HEADS[path]}: {(', ' if path == PROGRAMS else ' ').join(words)}"
            elif group.texts:
                yield f"{path}: {' '.join(words)}" if words else path

    def _file(self, file: WorkingFile) -> Offer:
        """A file is a group with a worth of its own; to tell it alone costs nothing more."""
        named = file.path.rsplit("/", 1)[-1] in self._summary
        group = Group(WORKING_SET, worth=_FILE_WORTH * file.score**_EXPONENT * (_NAMED_FILE if named else 1))
        group.tokens, group.units = _TOKENS_PER_CHARACTER * len(file.path) + 3, len(file.path) + 2
        self.groups[file.path] = group
        return (0.0, 0.0, 0, file.path, file.path)

    def _words(self, files: list[WorkingFile]) -> Iterator[Offer]:
        """Each identifier under the files where it matters most, or loose where it was seen in none."""
        scores = dict(self._set.words)
        places: dict[str, list[tuple[float, str]]] = {}
        for file in files:
            heat = _PAIR_WORTH * file.hot / self._hottest
            for word, score in file.words[:_MOST_WORDS]:
                scores[word] = scores.get(word, 0.0) + score
                places.setdefault(word, []).append((heat * score**_EXPONENT + 0.05 * file.score, file.path))
        for word, score in scores.items():
            worth = score**_EXPONENT * (_NAMED_WORD if word in self._named else 1)
            found = places.get(word)
            if not found:
                yield _offer(_LOOSE_WORTH * worth, LOOSE, word)
                continue
            found.sort(reverse=True)
            for position, (pair, path) in enumerate(found[:_PLACES]):
                yield _offer(pair + (worth if position == 0 else 0), path, word)

    def _commands(self) -> Iterator[Offer]:
        programs: dict[str, float] = {}
        for command in self._set.commands:
            for program in _programs(command.command):
                programs[program] = programs.get(program, 0.0) + command.score
            if command.last or command.failed:
                yield _offer(_COMMAND_WORTH * command.score**_EXPONENT, COMMANDS, _command_line(command))
        for program, score in programs.items():
            yield _offer(score**_EXPONENT * (_NAMED_WORD if program in self._summary else 1), PROGRAMS, program)


_HEADS = {LOOSE: "also", PROGRAMS: "ran", REFERENCES: "refs"}


def _offer(worth: float, group: str, text: str) -> Offer:
    return (worth, _TOKENS_PER_CHARACTER * len(text) + 0.6, len(text) + 2, group, text)


def _is_tellable(path: str) -> bool:
    """Whether a path says something: one of the repository, not one that a program only shortened."""
    return 2 < len(path) < _LONGEST_PATH and "…" not in path and path.isprintable()  # noqa: PLR2004


def _merged(files: Iterable[WorkingFile]) -> list[WorkingFile]:
    """The files, with what is only the end of exactly one other path (`hooks.py`, `src/hooks.py`) added to that."""
    by_path = {file.path: file for file in files}
    ends: dict[str, list[str]] = {}
    for path in by_path:
        for position in [index for index, character in enumerate(path) if character == "/"]:
            ends.setdefault(path[position + 1 :], []).append(path)
    for path, file in list(by_path.items()):
        longer = [other for other in ends.get(path.lstrip("/"), ()) if other != path]
        if longer and len({other.rsplit("/", 1)[-1] for other in longer}) == 1:
            whole = max(longer, key=len)
            if all(whole.endswith(other) for other in longer):
                known = by_path[whole]
                by_path[whole] = known.replace(score=known.score + file.score)
                del by_path[path]
    return sorted(by_path.values(), key=lambda file: file.score, reverse=True)


def _programs(command: str) -> Iterable[str]:
    """The programs of a command by their first two words: `go test`, `git log`."""
    for part in command.replace("&&", ";").replace("|", ";").split(";"):
        words = [word for word in part.split() if "=" not in word]
        if len(words) > 1 and words[1][:1].isalpha() and "/" not in words[0] and words[0].isascii():
            yield f"{words[0]} {words[1]}"


def _command_line(command: RanCommand) -> str:
    end = command.failing[0] if command.failing else command.last
    how = "failed" if command.failed or command.failing else "ended"
    return (
        f"$ {cut(harmless(command.command), _COMMAND_CHARACTERS)} -> {how}: {cut(harmless(end), _OUTCOME_CHARACTERS)}"
    )
