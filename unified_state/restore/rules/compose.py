"""Compose a restore: the state, and after a compaction all that the summary may have lost, within one token budget.

The sections have an order, and what one leaves goes to the next. The client limits each hook's output to 10,000 UTF-16
units, so two hooks print the text: the first as much as fits, the second the rest.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import accumulate

from unified_state.ledger.rules.item_lines import harmless
from unified_state.lib.text import estimate_tokens, utf16_units
from unified_state.model.known import Composition, RestoreInput, Statement
from unified_state.restore.rules.brief_lines import (
    AFTER_COMPACTION,
    brief_sections,
    closing,
    head,
    refs_to_tell,
    sections_after_clear,
    told_refs,
    untold_line,
)
from unified_state.restore.rules.file_lines import file_lines
from unified_state.restore.rules.passages import passages
from unified_state.restore.rules.turn_texts import important_turns, last_steps
from unified_state.restore.rules.users_words import unquoted_lines
from unified_state.restore.rules.value import Piece, choose, names_in
from unified_state.restore.rules.work_lines import now_lines, run_pieces

MOST_UNITS = 9_500  # below the client's 10,000, with room for the fence
_RULE, _HEADING = "=" * 60, 2  # lines of the heading
_HANDED_OVER = 2_000.0  # tokens of the work of another host's session
_LONGEST_TITLE = 200
_SHORT = 240  # characters of an item that is not important, if not all fit whole
# Tokens of the user's words, and the shares of what is left after the state and these words.
_WORDS, _ITEMS_LEAVE = 1_500.0, 1 / 3
_TITLES, _COUNTED = 60, 30  # tokens of the titles, and of the line on what is left out
_INDENT = "    - "  # without the dash a passage could look like a title or an item
_LAST_STEPS, _FILES, _TURNS = 0.24, 0.46, 0.06
_NAMES = 3  # fewest names and numbers of a passage that is restored
WORDS_TITLE, UNQUOTED = "[USER] typed or pasted in this session", ", not quoted by the summary"
NOW_TITLE = "[NOW]"
RAN_TITLE = "[RAN] the newest first, each as it ended then"
SAID_TITLE = "[SAID] by the agent, the newest first; what came later may say otherwise"
FILES_TITLE = "[FILES] with names in them"
LAST_TITLE = "[LAST STEPS] verbatim"
TURNS_TITLE = "[TURNS] by importance"


def compose(known: RestoreInput, tokens: float, units: int = MOST_UNITS) -> Composition:
    """Return the texts of both outputs, within `tokens` together and within `units` each."""
    has_work = known.reason in {*AFTER_COMPACTION, "subagent"}
    page = _Page(tokens, units, is_long=has_work)
    if not page.add("", [head(known), _RULE]):
        return Composition()
    page.add("", closing(known))
    _add_state(page, known)
    if has_work:
        _add_work(page, known)
    return page.outputs()


def _add_state(page: _Page, known: RestoreInput) -> None:
    """Add what is recorded: whole if all fits, else the most important items, and the refs of the others."""
    if known.reason == "clear":
        for title, lines in sections_after_clear(known):
            page.add(title, lines)
        return
    refs = refs_to_tell(known)
    left_for_work = page.tokens * _ITEMS_LEAVE if known.reason in AFTER_COMPACTION else 0.0
    sections = list(brief_sections(known))
    if sum(_size((title, *lines)) for title, lines in sections) > page.tokens - left_for_work:
        sections = list(brief_sections(known, _SHORT))
        left_for_work += _size([untold_line(refs)]) if refs else 0
    page.keep_back(left_for_work)
    for title, lines in sections:
        page.add(title, lines)
    page.keep_back(0.0)
    told = set(told_refs(page.lines(), refs))
    page.add("", [untold_line(left)] if (left := [ref for ref in refs if ref not in told]) else [])


def _add_work(page: _Page, known: RestoreInput) -> None:
    """Add the user's words and the work, each section within its share."""
    summary = known.summary or ""
    words = unquoted_lines(known.prompts, known.turns, summary, min(_WORDS, page.tokens - _TITLES))
    page.add(f"{WORDS_TITLE}{UNQUOTED if summary else ''}", words)
    if known.reason in AFTER_COMPACTION:
        page.add(NOW_TITLE, now_lines(known))
    room = page.tokens - _TITLES
    steps = last_steps(known.turns, room * _LAST_STEPS)
    files = list(file_lines(known.working_set, room * _FILES))
    runs, said = run_pieces(known.recent), list(_said(known, "\n".join(steps)))
    pieces, left = [*runs, *said], room * (1 - _TURNS) - _size(steps) - _size(files)
    chosen = choose(pieces, "\n".join((*steps, *files)), left)
    left -= sum(pieces[number].tokens for number in chosen)
    files = list(file_lines(known.working_set, _size(files) + left))
    page.keep_back(_COUNTED)
    page.add(RAN_TITLE, [runs[number].text for number in chosen if number < len(runs)])
    page.add(SAID_TITLE, _by_turn(known, (said[number - len(runs)] for number in chosen if number >= len(runs))))
    page.add(FILES_TITLE, files)
    page.add(LAST_TITLE, page.newest_of(LAST_TITLE, steps))
    shown = {line.split(None, 1)[0] for line in steps}
    others = [turn for turn in known.turns if f"T{turn.number}" not in shown]
    page.add(TURNS_TITLE, important_turns(others, known.now, page.tokens - _size([TURNS_TITLE])))
    page.keep_back(0)
    untold = len(pieces) - len(chosen)
    line = f"[LEFT OUT] {untold} commands and passages of the agent; `unified-state search WORDS` finds them"
    page.add("", [line] if untold else [])


def _size(lines: Iterable[str]) -> int:
    return sum(estimate_tokens(f"{line}\n") for line in lines)


def _said(known: RestoreInput, told: str) -> Iterator[Piece]:
    """Yield the passages of the agent's texts that are not told and have some names, each with its text."""
    for said in known.recent.texts:
        head = _head(known, said)
        for passage in map(harmless, passages(said.text)):
            if passage not in told and len(names_in(passage)) >= _NAMES:
                yield Piece(text=passage, tokens=_size([head + passage]), age=said.age, of=said)
                head = _INDENT


def _by_turn(known: RestoreInput, chosen: Iterable[Piece]) -> Iterator[str]:
    """Yield the lines of the passages, the newest first, each turn and age named once."""
    before = ""
    for piece in chosen:
        assert piece.of is not None  # noqa: S101  # `_said` gives it
        head = _head(known, piece.of)
        yield (_INDENT if head == before else head) + piece.text
        before = head


def _head(known: RestoreInput, said: Statement) -> str:
    return f"  T{said.turn} ({known.age(said.at)}{', a subagent' if said.is_report else ''}): "


def hand_over(known: RestoreInput, tokens: float) -> Composition:
    """Return the state for a new session, and after it the work of the session that it continues, as one text.

    The work has the room that the state leaves, up to a limit. A host prints this text with one hook.
    """
    brief = compose(known, tokens).brief
    left = min(_HANDED_OVER, tokens - estimate_tokens(brief))
    page = _Page(left, max(0, MOST_UNITS - utf16_units(brief) - _LONGEST_TITLE), is_long=False)
    _add_work(page, known.replace(reason="prompt", git=None))
    title = f"[LAST SESSION] in {harmless(known.handed_over)}, which ended like this:"
    found = "\n".join(page.lines())
    return Composition(brief="\n".join([*filter(None, [brief]), title, found]) if found else brief)


class _Page:
    """The lines of a restore, and the room that is left. A long page fills two outputs, one after the other."""

    def __init__(self, tokens: float, units: int, *, is_long: bool) -> None:
        self._tokens, self._kept_back = tokens, 0.0
        self._rooms = [units, units] if is_long else [units]
        self._outputs = [list[str](), list[str]()]
        self._filled = 0  # the output in which the newest line stands

    @property
    def tokens(self) -> float:
        """The tokens that the next section may take."""
        return self._tokens - self._kept_back

    def keep_back(self, tokens: float) -> None:
        """Keep so many tokens from the next sections."""
        self._kept_back = tokens

    def add(self, title: str, lines: Iterable[str]) -> bool:
        """Add a section, as many of its lines as there is room for. Return whether all fit."""
        waiting, taken = list(lines), 0
        for line in waiting:
            taken += self._take([line], title) if taken or not title else self._take([title, line])
        missing = len(waiting) - taken
        if missing and title and taken:
            self._take([f"  ({missing} more)"], title)
        return not missing

    def newest_of(self, title: str, lines: list[str]) -> list[str]:
        """Return the last lines of a section for which the last output has room."""
        room = self._rooms[-1] - utf16_units(title)
        sizes = accumulate(utf16_units(line) + 1 for line in reversed(lines))
        fitting = sum(size <= room for size in sizes)
        return lines[len(lines) - fitting :]

    def _take(self, lines: list[str], title: str = "") -> bool:
        """Take lines into the output that is being filled, or with their section's title into the second one. Return
        whether there was room.
        """
        in_second = [f"{title} (continued)", *lines] if title else lines
        for number, taken in ((self._filled, lines), (1, in_second)):
            tokens, units = _size(taken), sum(utf16_units(line) + 1 for line in taken)
            if number < len(self._rooms) and tokens <= self.tokens and units <= self._rooms[number]:
                self._tokens -= tokens
                self._rooms[number] -= units
                self._outputs[number] += taken
                self._filled = number
                return True
        return False

    def lines(self) -> list[str]:
        """Return all lines."""
        return [*self._outputs[0], *self._outputs[1]]

    def outputs(self) -> Composition:
        """Return the two texts, both empty if nothing stands below the heading."""
        if len(self.lines()) <= _HEADING:
            return Composition()
        first, second = self._outputs
        return Composition(brief="\n".join(first), working_set="\n".join(second))
