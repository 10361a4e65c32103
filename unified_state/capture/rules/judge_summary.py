"""Judge a summary: find which recorded items it kept (with or without their reason), distorted or omitted, and which
reports are new.

A statement that names an item's ref is about that item. Any other statement has to share most of its words. An item is
distorted if one of several statements under its ref is wrong. A statement that repeats an item word for word distorts
no other item.
"""

from __future__ import annotations

from unified_state.capture.rules.compare import BESIDE, LED, UNNAMED, compare
from unified_state.capture.rules.read_statement import Reading, read
from unified_state.capture.rules.summary_block import alias_in_front
from unified_state.capture.rules.word_meanings import meaning
from unified_state.lib.identifiers import identifiers, stands_in
from unified_state.lib.record import Record
from unified_state.model.item import ALIAS_LETTERS, DECISION, EVIDENCE, MAIN_FIELDS, QUESTION
from unified_state.model.known import BARE, DISTORTED, KEPT, MISSING, STALE, Judged, Named, Survival

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from unified_state.model.item import LedgerItem
    from unified_state.model.known import WorkingSet

_SUPERSEDED = "superseded"
_MOST_STATEMENTS, _MOST_REFS = 4_000, 200  # in a summary, in a line
_LONGEST = 600  # compared characters of a claim or statement
_MOST_CANDIDATES = 5  # most statements without a ref that are compared with an item
_LEAST_REASON, _REASON_SAID = (
    2,
    0.6,
)  # fewest words of a reason that counts, and the part of them that a summary must contain
_LETTERS = frozenset(ALIAS_LETTERS.values())
_MARKS = " \t-*•#>|`(["  # characters before a ref at the beginning of a line
_LEADS = frozenset(":：|=—–-")  # characters after a ref at the beginning of a statement


class _Statement(Record):
    """One statement of a summary: its reading, its place, the refs in it, and the ref at its beginning."""

    reading: Reading
    begin: int
    end: int
    led_by: str
    refs: frozenset[str]

    def says_past(self, claim: str) -> bool:
        """Return whether it reports something as past (superseded, no longer). The words of the claim do not count."""
        own = set(map(meaning, _words(claim)))
        words = {word for word in _words(self.reading.text) if meaning(word) not in own}
        return (bool(words & _PAST) and not words & {"not", "never"}) or "no longer" in self.reading.text.lower()


_PAST_WORDS = """
superseded formerly previously obsolete outdated originally abandoned reverted rejected deprecated revoked withdrawn
cancelled canceled lifted retired undone discarded scrapped overruled rescinded
"""
_FORMER_WORDS = """
replaced replaces supersedes instead earlier initially switched changed moved migrated dropped removed old considered
"""
_STILL_WORDS = "still open pending yet unresolved undecided unanswered tbd unclear until not awaiting remains"
_SETTLED_WORDS = "resolved answered settled closed decided solved"
_PAST, _FORMER, _STILL, _SETTLED = (
    frozenset(words.split()) for words in (_PAST_WORDS, _PAST_WORDS + _FORMER_WORDS, _STILL_WORDS, _SETTLED_WORDS)
)


def _words(text: str) -> set[str]:
    return {word.strip("`'\"()[]{},;:!?*.|~") for word in text.lower().split()}


def claim_of(item: LedgerItem) -> str:
    """Return the text of an item that a summary has to keep."""
    text = str(item.body.get(MAIN_FIELDS[item.kind]) or "").strip()
    return (text.splitlines() or [""])[0][:_LONGEST] if item.kind == EVIDENCE else text[:_LONGEST]


def judge(items: Sequence[LedgerItem], summary: str) -> Survival:
    """Return the verdict for each item.

    If the summary states a superseded item as current, that item is stale and its successor is distorted.
    """
    told = _Summary(summary, items)
    found = {item.alias: told.judge(item) for item in items if item.status != _SUPERSEDED}
    stated = {judged.begin for judged in found.values() if judged.verdict in {KEPT, BARE}}
    for ref, judged in found.items():
        if judged.verdict == DISTORTED and judged.begin in stated and ref not in told.at[judged.begin].refs:
            found[ref] = Judged(ref, MISSING)
    by_uuid = {item.uuid: item for item in items}
    stale = []
    for item in items:
        judged = told.judge(item) if item.status == _SUPERSEDED else Judged(item.alias, MISSING)
        if judged.verdict == KEPT and judged.begin not in stated:
            text = told.at[judged.begin].reading.text
            if _words(text) & _FORMER or "no longer" in text.lower():
                continue
            stale.append(judged.replace(verdict=STALE))
            newer = item
            for _ in items:
                newer = by_uuid.get(newer.superseded_by or "", newer)
            if newer.alias in found:
                found[newer.alias] = judged.replace(ref=newer.alias, verdict=DISTORTED)
    return Survival((*found.values(), *stale))


class _Summary:
    """A summary, parsed once: its statements by position, and an index from words to statements."""

    def __init__(self, summary: str, items: Iterable[LedgerItem]) -> None:
        self._refs = frozenset(item.alias for item in items)
        self.at = {said.begin: said for said in _statements(summary, self._refs)}
        self._where: dict[str, list[int]] = {}
        for begin, said in self.at.items():
            for key in said.reading.terms:
                self._where.setdefault(key, []).append(begin)

    def judge(self, item: LedgerItem) -> Judged:
        """Return the verdict on one item."""
        claim = read(claim_of(item))
        best = Judged(item.alias, MISSING)
        for said in self.at.values():
            if item.alias == said.led_by or (item.alias in said.refs and not said.led_by):
                how = LED if said.led_by else BESIDE
                verdict = DISTORTED if how == LED and _is_told_done(item, said) else compare(claim, said.reading, how)
                if verdict == DISTORTED:
                    return Judged(item.alias, DISTORTED, said.begin, said.end)
                best = Judged(item.alias, KEPT, said.begin, said.end) if verdict == KEPT else best
        best = best if best.verdict == KEPT else self._unnamed(item, claim)
        is_bare = best.verdict == KEPT and item.status != _SUPERSEDED and not self._gives_reason(item)
        return best.replace(verdict=BARE) if is_bare else best

    def _gives_reason(self, item: LedgerItem) -> bool:
        """Return whether the summary contains a decision's reason in any place. A reason of one or two words is not
        required.
        """
        reason = read(str(item.body.get("rationale") or "")[:_LONGEST] if item.kind == DECISION else "")
        keys = [key for key, term in reason.terms.items() if term.weight >= 1]
        return len(keys) < _LEAST_REASON or sum(key in self._where for key in keys) >= _REASON_SAID * len(keys)

    def _unnamed(self, item: LedgerItem, claim: Reading) -> Judged:
        """Return the verdict by the statements without a ref that share most words with the claim."""
        common = max(8, len(self.at) // 4)
        shared: dict[int, float] = {}
        for key, term in claim.terms.items():
            places = self._where.get(key, ())
            for begin in places if len(places) <= common else ():
                shared[begin] = shared.get(begin, 0.0) + term.weight
        best = Judged(item.alias, MISSING)
        for begin in sorted(shared, key=lambda begin: (-shared[begin], begin))[:_MOST_CANDIDATES]:
            said = self.at[begin]
            if said.led_by or said.refs & self._refs or said.says_past(claim_of(item)):
                continue
            verdict = compare(claim, said.reading, UNNAMED)
            if verdict == KEPT or best.verdict == MISSING != verdict:
                best = Judged(item.alias, verdict, begin, said.end)
            if verdict == KEPT:
                break
        return best


def _is_told_done(item: LedgerItem, said: _Statement) -> bool:
    """Return whether a statement under its ref wrongly reports an open or active item as closed."""
    if len(said.refs) > 1 or item.status == _SUPERSEDED:
        return False
    words = _words(said.reading.text)
    is_settled = item.kind == QUESTION and bool(words & _SETTLED) and not words & _STILL
    return is_settled or said.says_past(claim_of(item))


def _statements(summary: str, known: frozenset[str]) -> Iterator[_Statement]:
    """Yield the statements of a summary in order, without the known refs in their text."""
    begin = count = 0
    heading = ""  # a ref alone in its line belongs to the next line
    for line in summary.splitlines(keepends=True):
        refs = _refs(line)[:_MOST_REFS]
        leads: list[tuple[int, str]] = []
        for start, end, ref in refs:
            is_new = ref in known and (not leads or leads[-1][1] != ref)  # in a sentence, `Q1 - ` may be a quarter
            if _is_lead(line, start, end, is_new=is_new):
                leads.append((start, ref))
        ends = [*(start for start, _ in leads), len(line)]
        for (start, led_by), stop in zip([(0, heading), *leads], ends, strict=True):
            for first, last in [(start, stop)] if led_by else _sentences(line, start, stop):
                text, named = line[first:last], frozenset(ref for place, _, ref in refs if first <= place < last)
                if text.strip() and count < _MOST_STATEMENTS:
                    count += 1
                    reading = read(text[:_LONGEST], named & known)
                    yield _Statement(reading, begin + first, begin + first + len(text[:_LONGEST]), led_by, named)
        if any(map(str.isalnum, line)):
            heading = refs[0][2] if len(refs) == 1 and line.strip(_MARKS + ":.)]\n").upper() == refs[0][2] else ""
        begin += len(line)


def _is_lead(line: str, start: int, end: int, *, is_new: bool) -> bool:
    """Return whether the text after a ref states the item: `D3: …`, `**D3** (irreversible): …`, `| D3 | …`, `(D3)
    …`. Inside a line that holds for new refs only.
    """
    after = line[end : end + 80].lstrip(" *`)]")
    if after.startswith("("):
        after = after.partition(")")[2].lstrip(" *")
    return bool(after.strip()) and (
        (is_new and after[0] in _LEADS) or not line[max(0, start - 80) : start].strip(_MARKS)
    )


def _refs(line: str) -> list[tuple[int, int, str]]:
    """Return the item refs in a line, with their positions."""
    found = []
    for start, letter in enumerate(line):
        if letter.upper() in _LETTERS and line[start + 1 : start + 2].isdigit():
            digits = line[start + 1 :]
            end = start + 1 + len(digits) - len(digits.lstrip("0123456789"))
            around = line[max(0, start - 1) : start] + line[end : end + 1].rstrip(".")
            if end > start + 1 and not any(sign.isascii() and (sign.isalnum() or sign in "_./#") for sign in around):
                found.append((start, end, line[start:end].upper()))
    return found


def _sentences(line: str, start: int, stop: int) -> Iterator[tuple[int, int]]:
    """Yield the positions of the sentences in a part of a line."""
    for at in range(start, stop):
        if line[at] in "。！？；" or (line[at] in ".!?;" and line[at + 1 : at + 2].isspace()):
            yield start, at + 1
            start = at + 1
    if start < stop:
        yield start, stop


def named_in(working_set: WorkingSet, summary: str) -> tuple[Named, ...]:
    """Return how much of a working set a summary names: files, identifiers, commands, references, errors."""
    words = {word for word, _ in working_set.words}.union(word for file in working_set.files for word, _ in file.words)
    told = {
        "files": [file.path.rsplit("/", 1)[-1] for file in working_set.files],
        "commands": [command.command for command in working_set.commands],
        "references": [reference for reference, _ in working_set.references],
        "errors": [error for error, _ in working_set.errors],
    }
    named = [Named(kind, len(texts), sum(stands_in(text, summary) for text in texts)) for kind, texts in told.items()]
    named.append(Named("identifiers", len(words), len(words & identifiers(summary))))
    return tuple(one for one in named if one.total)


NEW, KNOWN, CONTRARY = "new", "known", "contrary"


def told_before(text: str, items: Iterable[LedgerItem]) -> str:
    """Return whether a reported text is new, repeats an item in any status, or contradicts one.

    A text with the ref of a known item is not new.
    """
    alias, said, verdicts = alias_in_front(text), read(text), set()
    for item in items:
        claim = read(claim_of(item))
        if item.alias == alias or _folded(claim.text) == _folded(text):
            return KNOWN
        if claim.terms.keys() & said.terms.keys():
            verdicts.add(compare(claim, said, UNNAMED))
    return KNOWN if KEPT in verdicts else CONTRARY if DISTORTED in verdicts else NEW


def says(words: str, claim: str) -> bool:
    """Return whether the words state the claim, literally or in other words."""
    return _folded(claim) == _folded(words) or compare(read(claim), read(words), BESIDE) == KEPT


def _folded(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".。!?;")
