"""Looking for a regular expression that somebody else wrote: some take longer than a life, so it is done by a process
of its own, which is ended when its time is up.
"""

from __future__ import annotations

import subprocess
import sys

from unified_state.errors import UsageError
from unified_state.lib.stdlib import dump_ascii_json, parse_json
from unified_state.lib.text.line_excerpts import Match

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

_SECONDS = 5.0
_LONGEST_PATTERN = 1_000  # characters
_LOOK = """
import json, re, sys
pattern, lines = json.load(sys.stdin)
try:
    search = re.compile(pattern).search
except (re.error, OverflowError, RecursionError) as error:
    print(json.dumps(str(error)))
else:
    found = ((number, search(line)) for number, line in enumerate(lines, 1))
    print(json.dumps([[number, *match.span()] for number, match in found if match]))
"""
_HINT = "it is a regular expression of Python; put a \\ before what stands for itself, such as ( or ["


def matches_in(lines: Sequence[str], pattern: str, seconds: float = _SECONDS) -> list[Match]:
    """The lines in which a pattern is found. Raises UsageError where it is no pattern, or takes too long."""
    if len(pattern) > _LONGEST_PATTERN:
        message = f"a pattern of {len(pattern):,} characters is too long"
        raise UsageError(message, f"at most {_LONGEST_PATTERN:,}")
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", _LOOK],
            input=dump_ascii_json([pattern, list(lines)]).encode(),
            capture_output=True,
            timeout=seconds,
            check=False,
        )
    except subprocess.TimeoutExpired:
        message = f"the pattern {pattern[:60]!r} was not done in {seconds:g} s"
        raise UsageError(message, "say it without repeats inside repeats, or look at fewer lines") from None
    found = parse_json(done.stdout.decode()) if done.returncode == 0 else "no memory for it"
    if isinstance(found, str):
        message = f"{pattern[:60]!r} is no pattern: {found}"
        raise UsageError(message, _HINT)
    return [Match(*fields) for fields in found]
