"""Of JSON: its shape and a sample. Each name of a field is shown with its first values; elements that are like those
before them, and values without words in them, go first.
"""

from __future__ import annotations

from unified_state.rules.shortening.novelty import new_names
from unified_state.rules.shortening.ranking import Ranking

TYPE_CHECKING = False
if TYPE_CHECKING:
    from unified_state.rules.shortening.call import Call
    from unified_state.rules.shortening.view import View

KIND = "JSON"
SCALE = 2
_LOOKED_AT = 40
_LEAST_SHARE = 0.6
_NOISE = ('url"', "_url", "node_id", "avatar", "gravatar", '_links"', '"href"', '"sha"', "reactions")


def fits(_call: Call, view: View) -> bool:
    """Whether an output begins as JSON does, and goes on so."""
    start = view.text[:200].lstrip()[:2]
    if not start.startswith(("{", "[")) or start[1:2] not in {'"', "{", "[", "\n", "\r", " ", "\u007d", "]"}:
        return False
    lines = view.pieces[:_LOOKED_AT]
    return sum('"' in line or line.strip() in {"{", "}", "[", "]", "},", "],", "[]"} for line in lines) >= _LEAST_SHARE * len(lines)


def rank(view: View) -> Ranking:
    """First what brings names that are new, addresses last."""
    pieces = view.pieces
    count = len(pieces)
    brought = new_names(pieces, range(count))
    seen: dict[str, int] = {}
    keys: list[tuple[int, int]] = []
    for number, piece in enumerate(pieces):
        key = piece.lstrip(' \t,{[').partition(":")[0][:60]
        seen[key] = seen.get(key, 0) + 1
        is_noise = any(word in piece for word in _NOISE)
        weight = 3 * is_noise + (brought[number] == 0) * 2 + (0 if seen[key] <= 2 else 1)
        keys.append((weight, number))
    return Ranking({0, count - 1} if len(pieces[-1]) < 200 else {0}, [number for _, number in sorted(keys)])
