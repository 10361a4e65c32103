"""The ways to have fewer tokens that the benchmark of lean context compares: each says, for every output of a stretch,
what stands in the context in its place, and until when.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from benchmarks.lean_sessions import Output, Stretch
from unified_state.extras.lean.rules.cut_marks import with_handle
from unified_state.extras.lean.rules.shorten import shorten
from unified_state.model.step import ShortForm

NEVER = 1 << 60  # more than anybody writes
_REF = "S1234"
_CUT_MARK = "\n[cut]\n"
# The client's own clearing of old tool results, as the API's `clear_tool_uses_20250919` does it by default.
CLEARS_FROM, CLEARS_AT_LEAST, KEEPS = 100_000, 5_000, 3
CLEARED = "[Old tool result content cleared]"


@dataclass
class Form:
    """What stands for an output. `lines` are the numbers, from 0, of those that stand there whole, None for all;
    `cleared_at` is how much had been written when the output was taken away, `cleared_before` the request.
    """

    text: str
    lines: frozenset[int] | None = None
    kind: str = ""
    cleared_at: int = NEVER
    cleared_before: int = NEVER

    def shows(self, line: int) -> bool:
        """Whether a line stands there whole."""
        return self.lines is None or line in self.lines


Method = Callable[[Stretch, list[int]], list[Form]]


def whole(stretch: Stretch, _tokens: list[int]) -> list[Form]:
    """Every output as it was."""
    return [Form(output.text) for output in stretch.outputs]


def short_forms(level: int, *, only_taken: bool = False) -> Method:
    """Ours: of every output, or only of those for which the client takes another text from a hook."""

    def forms(stretch: Stretch, _tokens: list[int]) -> list[Form]:
        return [
            Form(with_handle(short, _REF), _shown(short), short.kind) if short else Form(output.text)
            for output in stretch.outputs
            for short in [_short(output, level) if output.is_taken or not only_taken else None]
        ]

    return forms


def heads_and_tails(level: int) -> Method:
    """Of each output that ours shortens as many characters, but from both ends."""

    def forms(stretch: Stretch, _tokens: list[int]) -> list[Form]:
        return [
            _head_and_tail(output, len(short.text), short.kind) if short else Form(output.text)
            for output in stretch.outputs
            for short in [_short(output, level)]
        ]

    return forms


def clearing(stretch: Stretch, tokens: list[int]) -> list[Form]:
    """All outputs whole, until the context is so large that all but the newest are taken away."""
    forms = whole(stretch, tokens)
    gone = 0
    for request, context in enumerate(stretch.context):
        if context - gone < CLEARS_FROM:
            continue
        there = [at for at, output in enumerate(stretch.outputs) if output.requests_before <= request]
        old = [at for at in there[:-KEEPS] if forms[at].cleared_before == NEVER]
        freed = sum(tokens[at] for at in old)
        if freed >= CLEARS_AT_LEAST:
            gone += freed
            for at in old:
                forms[at].cleared_before, forms[at].cleared_at = request, stretch.starts[request]
    return forms


def _short(output: Output, level: int) -> ShortForm | None:
    return shorten(output.tool, output.given, output.text, level)


def _shown(short: ShortForm) -> frozenset[int]:
    return frozenset(number - 1 for first, last in short.shown for number in range(first, last + 1))


def _head_and_tail(output: Output, characters: int, kind: str) -> Form:
    """Half from either end; of the lines where the cuts fall a part."""
    half = (characters - len(_CUT_MARK)) // 2
    head, tail = output.text[:half], output.text[-half:]
    count = len(output.lines)
    first, last = head.count("\n"), count - tail.count("\n")
    return Form(head + _CUT_MARK + tail, frozenset([*range(first), *range(last, count)]), kind)
