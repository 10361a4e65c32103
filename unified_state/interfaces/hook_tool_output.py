"""The hook behind each tool call whose output may be long, in a process of its own that loads hardly anything: most
outputs go to the model as they are.

It exits 0 whatever happens. Where anything goes wrong it prints nothing, so that the output goes on as it is, and the
log says why.
"""

from __future__ import annotations

import os
import sys
import time

from unified_state.errors import UnifiedStateError
from unified_state.rules.shortening.levels import LEVELS, NAMES, TIGHT, is_short
from unified_state.services.lean_output import long_output
from unified_state.settings import default_data_dir, environment
from unified_state.sources.hook_input import parse_event, read_stdin

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

    from unified_state.services.lean_output import LongOutput

EVENT = "PostToolUse"
_STDIN_SECONDS = 5.0


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the hook `LEVEL [DATA_DIR]` of the process's arguments, and leave the process."""
    run(*(sys.argv[1:] if arguments is None else arguments)[:2])
    os._exit(0)  # tearing the interpreter down takes 2 ms, and everything is closed


def run(level: str = "", data_dir: str = "") -> int:
    """Look at one output, and answer where it is shortened; the exit status."""
    call = _Run(data_dir or default_data_dir())
    answer = ""
    try:
        answer = call.answer(level)
    except UnifiedStateError as error:
        call.problem = str(error)
    except BaseException as error:  # noqa: BLE001  # the hook's edge: nothing of ours may fail the user's turn
        import traceback

        call.problem, call.details = f"{type(error).__name__}: {error}", traceback.format_exc()
    if answer:
        sys.stdout.write(answer)
        sys.stdout.flush()
    if answer or call.problem:
        call.leave_trace()
    return 0


class _Run:
    """One run of the hook: what it found out about itself so far is what its trace says, wherever it ends."""

    def __init__(self, data_dir: str) -> None:
        self.started, self.now = time.monotonic(), int(time.time() * 1000)
        self.data_dir = data_dir
        self.folder: str | None = None
        self.problem: str | None = None
        self.details = ""

    def answer(self, level: str) -> str:
        """What the client is answered; empty where the output goes on as it is."""
        raw = read_stdin(sys.stdin.fileno(), _STDIN_SECONDS)
        if is_short(len(raw), TIGHT):
            return ""
        event, self.problem = parse_event(raw, EVENT)
        output = long_output(event)
        if output is None:
            return ""
        if level not in NAMES:
            self.problem = f"there is no level {level!r} of lean context"
            return ""
        return self._shortened(output, LEVELS[NAMES.index(level)])

    def _shortened(self, output: LongOutput, level: int) -> str:
        from unified_state.services.lean_output import Leaning, answer_to
        from unified_state.services.place import locate
        from unified_state.settings import load_hook_settings

        environ, cwd = environment(), output.event.cwd
        folder = cwd if os.path.isdir(cwd) else os.getcwd()
        place = locate(folder, self.data_dir, create=False)
        home = environ.get("CLAUDE_PROJECT_DIR", "")
        if home not in ("", folder) and locate(home, self.data_dir, create=False).folder != place.folder:
            return ""  # the shell is in another repository, whose archive has refs of its own
        cache = os.path.join(place.folder, "settings.json")
        settings = load_hook_settings(place.repository.worktree, cache, self.data_dir, environ)
        if not settings.enabled:
            return ""
        place = locate(folder, self.data_dir, create=True)
        self.folder = place.folder
        return answer_to(output, level, Leaning(place, settings, environ, self.now, self._report))

    def leave_trace(self) -> None:
        """Write down that the hook ran, and what went wrong."""
        from unified_state.services.health import HookRun, log_problem, note_run

        spent = round((time.monotonic() - self.started) * 1000)
        problem, details = _masked(self.problem, self.details)
        try:
            if self.folder is not None:
                note_run(self.folder, HookRun(EVENT, self.now, spent, problem))
            if problem:
                log_problem(self.data_dir, self.now, EVENT, problem, details)
        except OSError as error:
            print(f"unified-state: {problem or error}", file=sys.stderr)  # noqa: T201  # there is only stderr left

    def _report(self, line: str) -> None:
        self.problem = line


def _masked(problem: str | None, details: str) -> tuple[str | None, str]:
    """A message may quote what was being archived."""
    if problem is None:
        return None, details
    from unified_state.rules.masking import mask_text

    return mask_text(problem, lambda _secret: "in-log"), mask_text(details, lambda _secret: "in-log")
