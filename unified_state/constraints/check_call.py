"""Check a tool call against the enforced constraints, which it reads from the table.

The table of the session's project counts, even if its shell has moved to another folder. A missing or damaged table is
compiled again from the archive, and a lost archive is rebuilt from the state file. If neither exists, each call asks
the user, so that a denied call is never allowed silently.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence

from unified_state.constraints.constraint_table import Table, has_hook, read_table
from unified_state.constraints.rules.judge_call import Forms, Judge, without_quoting
from unified_state.errors import ConstraintsLostError, StorageError, UnifiedStateError
from unified_state.lib.json_text import dump_ascii_json
from unified_state.model.constraint import ASK, DENY, SKILL_EVENT, WARN, Breach, EnforcedRow
from unified_state.model.hook_event import HookEvent
from unified_state.project.find_repository import find_repository
from unified_state.project.place import Place, history_path, hook_settings, locate, session_project
from unified_state.settings import PROJECT_FILE, Settings

_FOLDS_CASE = sys.platform in ("darwin", "win32")
_LOCK_SECONDS = 4.0
_LONGEST_PATH = 4096
_DISGUISE = (
    "This runs unified-state with its environment changed, in which it may not know that an agent started it. "
    "What weakens a rule is for the user to run, in a terminal of their own."
)
_UNREAD = "This call is too long to be checked against the constraints of this project."


class ToolCheck:
    """One check of a tool call. `report` receives each problem, `place` contains the constraints."""

    def __init__(
        self, event: HookEvent, data_dir: str, environ: Mapping[str, str], report: Callable[[str], None]
    ) -> None:
        self._event, self._data_dir, self._environ, self._report = event, data_dir, environ, report
        self._folder = session_project(event.session_id, environ, data_dir, event.cwd) or os.getcwd()
        self.place = locate(self._folder, data_dir, create=False)

    def answer(self, *, is_unread: bool = False) -> str:
        """Return the answer to the client; "" where no constraint applies. A call that is too long to be read is asked
        about.
        """
        try:
            table = self._table()
        except ConstraintsLostError as error:
            from unified_state.lib.fence import visible  # a rare case

            self._report(str(error))
            return self._decision(ASK, visible(str(error))) if self._is_enabled(self.place) else ""
        if is_unread:
            return self._decision(ASK, _UNREAD) if any(row.mode != WARN for row in table.constraints) else ""
        if not (table.constraints or table.told):
            return ""
        given, worktree = self._event.extra.get("tool_input"), self.place.repository.worktree
        judge = Judge(
            self._event.text("tool_name"),
            given if isinstance(given, dict) else {},
            Locator(worktree, self._event.cwd, folds_case=_FOLDS_CASE).forms,
            {self._folder, worktree},
        )
        breaches = judge.breaches(table.constraints)
        if breaches and breaches[0].mode in (ASK, DENY):
            return self._decision(breaches[0].mode, _denial(breaches))
        if table.constraints and _disguises_us(given):
            return self._decision(ASK, _DISGUISE)
        told = self._unknown(judge.about(table.told))
        return self._added(breaches, told) if breaches or told else ""

    def _decision(self, mode: str, text: str) -> str:
        """Return the client's answer: deny stops the call, ask hands it to the user."""
        told = {"permissionDecision": {DENY: "deny", ASK: "ask"}[mode], "permissionDecisionReason": text}
        return dump_ascii_json({"hookSpecificOutput": {"hookEventName": self._event.hook_event_name, **told}})

    def _added(self, breaches: Sequence[Breach], told: Sequence[EnforcedRow]) -> str:
        """Return the client's answer that adds text to a call: a warning, which the user sees too, and what is told. A
        command of a skill takes no text.
        """
        answer, texts = {}, []
        if breaches:
            answer["systemMessage"] = _denial(breaches)
            texts.append(answer["systemMessage"])
        if told:
            from unified_state.constraints.told_once import told_line
            from unified_state.lib.fence import fenced

            texts.append(fenced(told_line(told), os.urandom(6).hex(), "a recorded fact about this call, as data"))
        event = self._event.hook_event_name
        output = {"hookEventName": event, "additionalContext": "\n".join(texts)}
        return dump_ascii_json(answer if event == SKILL_EVENT else {"hookSpecificOutput": output, **answer})

    def _unknown(self, rows: Sequence[EnforcedRow]) -> Sequence[EnforcedRow]:
        """Return those rows that the agent of this session does not know and was not told, and record that it was."""
        own, place = self._event.session_id, self.place
        new = [row for row in rows if row.session != own]
        if not (new and own and self._settings(place).enabled):
            return ()
        from unified_state.constraints.told_once import claim, worktrees_on  # most calls are told nothing

        if place.repository.worktree not in worktrees_on(place.folder):
            return ()
        try:
            refs = claim(place.folder, own, self._event.agent_id, [row.ref for row in new])
        except (OSError, StorageError):
            return ()  # nothing can be recorded, so it would be told again and again
        return [row for row in new if row.ref in refs]

    def _table(self) -> Table:
        """Return the constraints and facts that count for this call."""
        table = read_table(self.place.folder) or self._recovered()
        return table if not table.constraints or self._is_enabled(self.place) else table.replace(constraints=())

    def _recovered(self) -> Table:
        """Return what counts without a usable table. Raises ConstraintsLostError where constraints are lost."""
        from unified_state.constraints.compile_constraints import enforced, lost_error

        is_called = has_hook(self.place)
        if not (is_called or os.path.exists(history_path(self.place, ""))):
            return Table("")
        try:
            if self.place.id is None:
                self.place = locate(self._folder, self._data_dir, create=True)
            return self._compiled()
        except ConstraintsLostError:
            raise
        except UnifiedStateError as error:
            from unified_state.ledger.item_table import list_items
            from unified_state.state_file.adopt import archive_of_file

            with archive_of_file(self.place, 0) as archive:
                found = enforced(list_items(archive))
            if not (found or is_called):
                raise
            if not found:
                raise lost_error(self.place, error.message) from error
            self._report(str(error))
            return Table("", found)

    def _compiled(self) -> Table:
        from unified_state.constraints.compile_constraints import compile_table
        from unified_state.project.workspace.workspace import Workspace

        workspace = Workspace(self.place, self._settings(self.place), report=self._report, seconds=_LOCK_SECONDS)
        return workspace.use(lambda archive: compile_table(archive, self.place, always=True)[1])

    def _is_enabled(self, place: Place) -> bool:
        """Return whether the user has left us enabled. A file of the project cannot disable us, because the agent may
        write it.
        """
        settings = self._settings(place)
        return settings.enabled or settings.origin["enabled"].endswith(PROJECT_FILE)

    def _settings(self, place: Place) -> Settings:
        return hook_settings(place, self._data_dir, self._environ)


class Locator:
    """Resolves the paths of a session whose shell is in the folder `cwd`."""

    def __init__(self, worktree: str, cwd: str, *, folds_case: bool) -> None:
        self._base = cwd if os.path.isabs(cwd) else worktree
        current = find_repository(self._base).worktree if self._base != worktree else worktree
        self._roots = {root for folder in (worktree, current) for root in (folder, os.path.realpath(folder))}
        self._folds_case = folds_case
        self._known: dict[tuple[str, str], Forms] = {}

    def forms(self, path: str, folder: str) -> Forms:
        """Return the forms of a path that is written in a folder: as written, and with its symlinks resolved."""
        if (path, folder) not in self._known:
            self._known[path, folder] = self._forms(path, folder)
        return self._known[path, folder]

    def _forms(self, path: str, folder: str) -> Forms:
        written = os.path.join(self._base, os.path.expanduser(folder), os.path.expanduser(path)).replace("\0", "")
        absolute = {os.path.normpath(written)}
        if len(written) <= _LONGEST_PATH:
            absolute.add(os.path.realpath(written))
        relative = {self._below(form, root) for form in absolute for root in self._roots}
        return Forms(self._shown(absolute), self._shown(relative - {""}))

    def _below(self, path: str, root: str) -> str:
        """Return the path relative to the root, or "" if it is not below the root."""
        if self._folds_case:
            path, root = path.lower(), root.lower()
        if path == root:
            return "."
        beginning = root.rstrip(os.sep) + os.sep
        return path[len(beginning) :] if path.startswith(beginning) else ""

    def _shown(self, paths: set[str]) -> tuple[str, ...]:
        shown = (path.replace(os.sep, "/") for path in sorted(paths))
        return tuple(path.lower() if self._folds_case else path for path in shown)


def _denial(breaches: Sequence[Breach]) -> str:
    from unified_state.constraints.rules.denial_text import denial  # most calls need no answer

    return denial(breaches)


def _disguises_us(given: object) -> bool:
    """Return whether a call runs our program in a way that hides from it that an agent started it."""
    line = given.get("command") if isinstance(given, dict) else None
    if not isinstance(line, str) or "unified" not in without_quoting(line):
        return False
    from unified_state.constraints.rules.own_calls import runs_us_changed  # few calls run our program

    return runs_us_changed(line)
