"""Judge a summary: for each item whether it is kept, bare, distorted or missing."""

from __future__ import annotations

from unified_state.capture.rules.compare import BESIDE, LED, UNNAMED, compare
from unified_state.capture.rules.read_statement import is_called_former, is_called_open, is_called_past, read
from unified_state.capture.rules.summary_block import alias_in_front
from unified_state.lib.identifiers import identifiers, stands_in
from unified_state.model.item import ALIAS_LETTERS, DECISION, EVIDENCE, MAIN_FIELDS, QUESTION
from unified_state.model.known import BARE, DISTORTED, KEPT, MISSING, STALE, Judged, Named, Survival

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unified_state.capture.rules.read_statement import Reading
    from unified_state.model.item import LedgerItem
    from unified_state.model.known import WorkingSet


_LETTERS = frozenset(ALIAS_LETTERS.values())
_ENDS = frozenset(".!?;")
_CJK_ENDS = frozenset("。！？；")
_LEADS = frozenset(":：|=—–-)]*")  # behind a ref that begins a statement
_MOST_REFS = 200  # in one line
_NEAR = 80  # characters round a ref that say whether it begins a statement
_MOST = 4_000  # statements that are looked at
_LONGEST = 600  # characters of one statement that are compared


class Statement:
    """One statement: its text and place, the refs in it, and the ref that it begins with."""

    __slots__ = ("begin", "end", "led_by", "refs", "text")

    def __init__(self, text: str, begin: int, led_by: str, refs: frozenset[str]) -> None:
        self.text, self.begin, self.end = text, begin, begin + len(text)
        self.led_by, self.refs = led_by, refs


def statements(summary: str) -> list[Statement]:
    """All statements of a summary, in order."""
    found: list[Statement] = []
    begin = 0
    heading = ""  # a ref that stands alone in its line leads the next one
    for line in summary.splitlines(keepends=True):
        stated = list(_of_line(line, begin, heading))
        if any(character.isalnum() for character in line):
            heading = stated[0].led_by if len(stated) == 1 and _is_ref_alone(stated[0]) else ""
        found += stated
        begin += len(line)
        if len(found) > _MOST:
            break
    return found


def _is_ref_alone(statement: Statement) -> bool:
    return bool(statement.led_by) and statement.text.strip(" #*-:.()[]|`\n").upper() == statement.led_by


def _of_line(line: str, begin: int, heading: str) -> Iterator[Statement]:
    """The statements of a line: what each ref begins, else its sentences."""
    places = _refs(line)[:_MOST_REFS]
    leads = [(start, end, ref) for start, end, ref in places if _leads(line, start, end)]
    cuts = [0, *(start for start, _, _ in leads), len(line)]
    for number, start in enumerate(cuts[:-1]):
        led_by = leads[number - 1][2] if number else heading
        for first, last in _sentences(line, start, cuts[number + 1], whole=bool(led_by)):
            text = line[first:last]
            if text.strip():
                refs = frozenset(ref for place, _, ref in places if first <= place < last)
                yield Statement(text[:_LONGEST], begin + first, led_by, refs)


def _leads(line: str, start: int, end: int) -> bool:
    """Whether what follows a ref is what the item says: `D3: …`, `**D3** (irreversible): …`, `| D3 | …`, `(D3) …`."""
    near = line[max(0, start - _NEAR) : start]
    before, after = near.rstrip(" \t([*`"), line[end : end + _NEAR].lstrip("*`")
    opens = not before or before[-1] in ".;:,|!?。；，、-*•#>" or before[-1].isdigit()
    if after[:1] in {")", "]"} and opens and near.rstrip("*`")[-1:] in {"(", "["}:
        return not before or not before[-1].isalnum()
    rest = after.lstrip(" ")
    if rest.startswith("("):
        rest = rest[rest.find(")") + 1 :].lstrip(" *") if ")" in rest else ""
        return rest[:1] in _LEADS and opens
    return rest[:1] in _LEADS or (not near.strip(" \t-*•#>|`([") and bool(rest.strip()))


def _refs(line: str) -> list[tuple[int, int, str]]:
    """The refs of items in a line, with their places."""
    found = []
    for position, character in enumerate(line):
        if character.upper() in _LETTERS and line[position + 1 : position + 2].isdigit():
            end = position + 1
            while end < len(line) and line[end].isdigit():
                end += 1
            around = line[max(0, position - 1) : position] + line[end : end + 1]
            if line[position + 1 : end].isascii() and not any(
                sign.isascii() and (sign.isalnum() or sign in "_./#") for sign in around.rstrip(".")
            ):
                found.append((position, end, line[position:end].upper()))
    return found


def _sentences(line: str, start: int, stop: int, *, whole: bool) -> Iterator[tuple[int, int]]:
    """The places of the sentences of a part of a line; a part that a ref leads is one statement."""
    if whole:
        yield start, stop
        return
    begin = start
    for position in range(start, stop):
        is_end = line[position] in _CJK_ENDS or (
            line[position] in _ENDS
            and line[position + 1 : position + 2].isspace()
            and not _is_abbreviation(line, position)
        )
        if is_end:
            yield begin, position + 1
            begin = position + 1
    if begin < stop:
        yield begin, stop


def _is_abbreviation(line: str, position: int) -> bool:
    """Whether a full stop belongs to `e.g.`, `i.e.`, `vs.` or the number of a list."""
    word = line[max(0, position - _NEAR) : position].rsplit(None, 1)[-1:] or [""]
    return line[position] == "." and (
        word[0].lstrip("(").lower() in {"e.g", "i.e", "vs", "etc", "no"} or word[0].isdigit()
    )


_MOST_CANDIDATES = 5
_LONGEST_CLAIM = 600  # characters
_LEAST_REASON, _REASON_SAID = 2, 0.6  # words of a reason, and the part of them that has to be said
_SUPERSEDED = "superseded"


def claim_of(item: LedgerItem) -> str:
    """What an item says, in the words that a summary has to keep."""
    text = str(item.body.get(MAIN_FIELDS[item.kind]) or "").strip()
    return (text.splitlines() or [""])[0][:_LONGEST_CLAIM] if item.kind == EVIDENCE else text[:_LONGEST_CLAIM]


def judge(items: Sequence[LedgerItem], summary: str) -> Survival:
    """What a summary kept of some items; of superseded ones, which it tells as if they still held. What stands in the
    place of such a one is told otherwise.
    """
    told = _Told(summary, items)
    found = {item.alias: told.judge(item) for item in items if item.status != _SUPERSEDED}
    stated = {judged.begin for judged in found.values() if judged.verdict in {KEPT, BARE}}
    found = {ref: told.without_others(judged, stated) for ref, judged in found.items()}
    by_uuid = {item.uuid: item for item in items}
    stale = []
    for item in items:
        judged = told.judge(item) if item.status == _SUPERSEDED else None
        if judged is None or judged.verdict != KEPT or judged.begin in stated or told.is_former(judged):
            continue
        stale.append(judged.replace(verdict=STALE))
        newer = _newest(item, by_uuid)
        if newer is not None and newer.alias in found:
            found[newer.alias] = judged.replace(ref=newer.alias, verdict=DISTORTED)
    return Survival((*found.values(), *stale))


def _newest(item: LedgerItem, by_uuid: dict[str, LedgerItem]) -> LedgerItem | None:
    """What stands in the place of a superseded item now, as far as it is known."""
    seen = set()
    while item.superseded_by in by_uuid and item.uuid not in seen:
        seen.add(item.uuid)
        item = by_uuid[item.superseded_by]
    return item if seen else None


class _Told:
    """A summary, read once: its statements and which words stand in which."""

    def __init__(self, summary: str, items: Iterable[LedgerItem]) -> None:
        self._refs = frozenset(item.alias for item in items)
        self._statements = statements(summary)
        self._readings = [read(statement.text, statement.refs & self._refs) for statement in self._statements]
        self._where: dict[str, list[int]] = {}
        for number, reading in enumerate(self._readings):
            for key in reading.terms:
                self._where.setdefault(key, []).append(number)
        self._common = max(8, len(self._statements) // 4)

    def judge(self, item: LedgerItem) -> Judged:
        """The verdict on one item."""
        claim = read(claim_of(item))
        best = Judged(item.alias, MISSING)
        for number in self._named(item.alias):
            statement = self._statements[number]
            how = LED if statement.led_by == item.alias else BESIDE
            verdict = compare(claim, self._readings[number], how)
            if how == LED and verdict != DISTORTED and _is_told_done(item, statement):
                verdict = DISTORTED
            if verdict == DISTORTED:
                return _judged(item, DISTORTED, statement)
            best = _judged(item, KEPT, statement) if verdict == KEPT else best
        best = best if best.verdict == KEPT else self._unnamed(item, claim)
        is_bare = best.verdict == KEPT and item.status != _SUPERSEDED and not self._gives_reason(item)
        return best.replace(verdict=BARE) if is_bare else best

    def _gives_reason(self, item: LedgerItem) -> bool:
        """Whether the reason of a decision is said too, wherever; one in a word or two says little by itself."""
        reason = read(str(item.body.get("rationale") or "")[:_LONGEST_CLAIM]) if item.kind == DECISION else None
        keys = [key for key, term in reason.terms.items() if term.weight >= 1] if reason else []
        return len(keys) < _LEAST_REASON or sum(key in self._where for key in keys) >= _REASON_SAID * len(keys)

    def without_others(self, judged: Judged, stated: set[int]) -> Judged:
        """The verdict; nothing is distorted by a statement that says word for word what another item says."""
        if judged.verdict != DISTORTED or judged.begin not in stated:
            return judged
        statement = self._at(judged.begin)
        is_named = judged.ref in {*statement.refs, statement.led_by}
        return judged if is_named else Judged(judged.ref, MISSING)

    def is_former(self, judged: Judged) -> bool:
        """Whether what was kept is told as what was so before."""
        return is_called_former(self._at(judged.begin).text)

    def _at(self, begin: int) -> Statement:
        return next(statement for statement in self._statements if statement.begin == begin)

    def _named(self, ref: str) -> list[int]:
        return [
            n for n, said in enumerate(self._statements) if ref == said.led_by or (ref in said.refs and not said.led_by)
        ]

    def _unnamed(self, item: LedgerItem, claim: Reading) -> Judged:
        """The verdict by the statements that share most words with the claim and name no other item."""
        shared: dict[int, float] = {}
        for key, term in claim.terms.items():
            places = self._where.get(key, ())
            if len(places) <= self._common:
                for number in places:
                    shared[number] = shared.get(number, 0.0) + term.weight
        best = Judged(item.alias, MISSING)
        for number in sorted(shared, key=lambda number: (-shared[number], number))[:_MOST_CANDIDATES]:
            statement = self._statements[number]
            if statement.led_by or statement.refs & self._refs:
                continue
            verdict = compare(claim, self._readings[number], UNNAMED)
            if verdict == KEPT and not is_called_past(statement.text, claim_of(item)):
                return _judged(item, KEPT, statement)
            if verdict == DISTORTED and best.verdict == MISSING and not is_called_past(statement.text, claim_of(item)):
                best = _judged(item, DISTORTED, statement)
        return best


def _judged(item: LedgerItem, verdict: str, statement: Statement) -> Judged:
    return Judged(item.alias, verdict, statement.begin, statement.end)


def _is_told_done(item: LedgerItem, statement: Statement) -> bool:
    """Whether a statement under its ref says that what is open or in force is not so any more."""
    if len(statement.refs) > 1 or item.status == _SUPERSEDED:
        return False
    return is_called_past(statement.text, claim_of(item)) or (
        item.kind == QUESTION and not is_called_open(statement.text)
    )


def named_in(working_set: WorkingSet, summary: str) -> tuple[Named, ...]:
    """How much of a working set a summary names: files, identifiers, commands, references, errors."""
    words = {word for word, _ in working_set.words}
    words.update(word for file in working_set.files for word, _ in file.words)
    told = {
        "files": [stands_in(file.path.rsplit("/", 1)[-1], summary) for file in working_set.files],
        "commands": [stands_in(command.command, summary) for command in working_set.commands],
        "references": [stands_in(reference, summary) for reference, _ in working_set.references],
        "errors": [stands_in(error, summary) for error, _ in working_set.errors],
    }
    named = [Named(kind, len(found), sum(found)) for kind, found in told.items()]
    named.append(Named("identifiers", len(words), len(words & identifiers(summary))))
    return tuple(one for one in named if one.total)


NEW, KNOWN, CONTRARY = "new", "known", "contrary"


def told_before(text: str, items: Iterable[LedgerItem]) -> str:
    """Whether a reported text is new, repeats an item, or says something else of what an item speaks of. What is said
    under the ref of a known item is judged with the summary, and is not new.
    """
    items = list(items)
    alias = alias_in_front(text)
    if alias and any(item.alias == alias for item in items):
        return KNOWN
    said, folded = read(text), _folded(text)
    verdicts = set()
    for item in items:
        claim = claim_of(item)
        if _folded(claim) == folded:
            return KNOWN
        reading = read(claim)
        if reading.terms.keys() & said.terms.keys():
            verdicts.add(compare(reading, said, UNNAMED))
            if KEPT in verdicts:
                return KNOWN
    return CONTRARY if DISTORTED in verdicts else NEW


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!?")


def says(words: str, claim: str) -> bool:
    """Whether the words say the claim, word for word or in other words."""
    return (
        _same_statement_folded(claim) == _same_statement_folded(words)
        or compare(read(claim), read(words), BESIDE) == KEPT
    )


def _same_statement_folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!?;")
