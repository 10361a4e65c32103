"""A claim beside a statement: what of it stands there, what does not, and what stands in the place of what."""

from __future__ import annotations

from unified_state.capture.rules.terms import NAME, NUMBER

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from unified_state.capture.rules.read_statement import Reading
    from unified_state.capture.rules.terms import Term


_LEAST_PREFIX = 6  # letters by which `Postgres` and `PostgreSQL` are one name


class Matched:
    """A claim beside a statement: which of its terms stand there (by their keys there), which do not, what is extra."""

    def __init__(self, claim: Reading, said: Reading) -> None:
        self.claim, self.said = claim, said
        self.pairs: dict[str, str] = {}
        for key, term in claim.terms.items():
            found = key if key in said.terms else _same_thing(term, said)
            if found is not None:
                self.pairs[key] = found
        there = set(self.pairs.values())
        self.missing = [term for key, term in claim.terms.items() if key not in self.pairs]
        self.extra = [term for key, term in said.terms.items() if key not in there]

    def weight(self, least: float = 0.0) -> float:
        """How much of the claim stands there."""
        return sum(weight for key in self.pairs if (weight := self.claim.weight_of(key)) >= least)

    def coverage(self, without: tuple[Term, ...] = ()) -> float:
        """The part of the claim that stands there, apart from some of its terms."""
        left_out = {term.key for term in without}
        whole = sum(self.claim.weight_of(key) for key in self.claim.terms if key not in left_out)
        return self.weight() / whole if whole else 0.0


def _same_thing(term: Term, said: Reading) -> str | None:
    """The key in a statement of what is the same under another name: the end of a path, the beginning of a name, a
    number without its unit.
    """
    for key, other in said.terms.items():
        if term.kind == NUMBER == other.kind:
            if not other.label and key == term.text.rstrip("abcdefghijklmnopqrstuvwxyz%"):
                return key
        elif "/" in term.key or "/" in key:
            if f"/{term.key}".endswith(f"/{key}") or f"/{key}".endswith(f"/{term.key}"):
                return key
        elif term.kind == NAME and other.kind == NAME and term.text.isalpha() and other.text.isalpha():
            short, long = sorted((term.text.lower(), other.text.lower()), key=len)
            if len(short) >= _LEAST_PREFIX and long.startswith(short):
                return key
    return None


def slots(matched: Matched) -> Iterator[tuple[list[Term], list[Term]]]:
    """What stands in the place of what: between two terms that both have, what only one has."""
    ours, theirs = matched.claim.sequence(), matched.said.sequence()
    keys = [matched.pairs.get(term.key, term.key) for term in ours]
    begin = (0, 0)
    for end in [*_common(keys, [term.key for term in theirs]), (len(ours), len(theirs))]:
        lost, put = ours[begin[0] : end[0]], theirs[begin[1] : end[1]]
        if lost and put:
            yield lost, put
        begin = (end[0] + 1, end[1] + 1)


def _common(ours: list[str], theirs: list[str]) -> list[tuple[int, int]]:
    """The places of a longest common subsequence."""
    lengths = [[0] * (len(theirs) + 1) for _ in range(len(ours) + 1)]
    for i in range(len(ours) - 1, -1, -1):
        for j in range(len(theirs) - 1, -1, -1):
            same = ours[i] == theirs[j]
            lengths[i][j] = lengths[i + 1][j + 1] + 1 if same else max(lengths[i + 1][j], lengths[i][j + 1])
    places, i, j = [], 0, 0
    while i < len(ours) and j < len(theirs):
        if ours[i] == theirs[j]:
            places.append((i, j))
            i, j = i + 1, j + 1
        elif lengths[i + 1][j] >= lengths[i][j + 1]:
            i += 1
        else:
            j += 1
    return places
