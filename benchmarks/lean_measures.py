"""What a method saves and what it costs, added up over outputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields

from benchmarks.lean_methods import CLEARED, NEVER, Form
from benchmarks.lean_sessions import Output, Stretch
from benchmarks.lean_uses import BY_NAME, Use, names
from unified_state.extras.lean.rules.tool_call import call_of, shows_files
from unified_state.lib.tokens import count_tokens

FILES, OTHERS = "file contents", "other output"


@dataclass
class Sums:
    """Outputs, how many were changed, their tokens, what of them stands there, both also times the requests that carry
    them; uses, those that were cut, and those that were lost.
    """

    outputs: int = 0
    changed: int = 0
    tokens: int = 0
    kept: int = 0
    carried: int = 0
    carried_kept: int = 0
    uses: int = 0
    cut: int = 0
    lost: int = 0

    def add(self, other: Sums) -> None:
        """Add up."""
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name) + getattr(other, field.name))

    @property
    def saved(self) -> float:
        """The share of tokens that need not be read."""
        return 1 - self.kept / max(1, self.tokens)

    @property
    def carried_saved(self) -> float:
        """The same, times the requests."""
        return 1 - self.carried_kept / max(1, self.carried)


def group_of(output: Output) -> str:
    """Whether an output shows the content of files."""
    return FILES if shows_files(call_of(output.tool, output.given)) else OTHERS


def tokens_of(texts: Sequence[str]) -> list[int]:
    """The tokens of each text."""
    return count_tokens(list(texts)) if texts else []


def measure(
    stretch: Stretch, uses: Sequence[Sequence[Use]], forms: Sequence[Form], tokens: Sequence[int]
) -> Iterator[Sums]:
    """The sums of each output."""
    kept = tokens_of([form.text for form in forms])
    cleared = tokens_of([CLEARED])[0]
    for number, (output, form) in enumerate(zip(stretch.outputs, forms, strict=True)):
        requests = len(stretch.context) - output.requests_before
        after = max(0, len(stretch.context) - max(form.cleared_before, output.requests_before))
        is_cleared = form.cleared_before != NEVER
        cut = [use for use in uses[number] if _is_cut(use, form)]
        yield Sums(
            1,
            form.lines is not None or is_cleared,
            tokens[number],
            cleared if is_cleared else kept[number],
            tokens[number] * requests,
            kept[number] * (requests - after) + cleared * after,
            len(uses[number]),
            len(cut),
            sum(not _stands_elsewhere(use, number, forms) for use in cut),
        )


def _is_cut(use: Use, form: Form) -> bool:
    """Whether none of the lines that serve a use stood there when it was made."""
    if use.last >= form.cleared_at:
        return True
    if any(map(form.shows, use.lines)):
        return False
    return use.words not in (names(form.text) if use.way == BY_NAME else form.text)


def _stands_elsewhere(use: Use, own: int, forms: Sequence[Form]) -> bool:
    return any(
        number != own and forms[number].shows(line) and use.last < forms[number].cleared_at
        for number, line in use.copies
    )
