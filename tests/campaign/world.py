"""A home, a repository with something of everything recorded, and what must hold whatever the product is given.

Most inputs meet the product inside this process, since a process for each would take ten times as long; some meet whole
processes, with the same promises. Behind each input every file is put back.
"""

from __future__ import annotations

import io
import json
import os
import random
import re
import resource
import shutil
import signal
import sqlite3
import string
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from hashlib import sha256
from pathlib import Path

from tests.acceptance.product import Done, Project, all_bytes, valid_state
from tests.acceptance.transcripts import Transcript
from tests.campaign.audit import Audit, is_allowed
from tests.campaign.kind import expect, fail
from tests.passwd import set_home
from unified_state.interfaces import hook
from unified_state.interfaces.cli import main as cli

CPU_SECONDS, SECONDS = 10, 60  # for one call of the product
MOST_MEMORY = 400 << 10  # kilobytes by which one input may make this process grow
DECISION, RULE = "Keep the gold in SQLite", "Never force a push"
SESSION = "s"
DENIED = {"tool_name": "Bash", "tool_input": {"command": "git push --force"}}
_SHARED = (
    ("git", "init", "--quiet", "--initial-branch", "main"),
    ("git", "add", "."),
    ("git", "commit", "--quiet", "--message", "first commit"),
)
_CONTEXT_EVENTS = ("SessionStart", "UserPromptSubmit", "SubagentStart")
_PLAIN = "PreCompact"  # prints text
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_AUDIT: list[Audit] = []
Listing = dict[str, tuple[int, ...]]


class World:
    """What each input meets. `is_whole` says whether by whole processes."""

    def __init__(self, folder: Path) -> None:
        self.root, self.is_whole, self.count = folder, False, 0
        self.repository, self.elsewhere = folder / "repository", folder / "elsewhere"
        self.transcript, self.home = folder / "s.jsonl", folder / "home"
        self.environment = {
            "PATH": os.environ["PATH"], "LANG": "C.UTF-8", "HOME": str(self.home), "TMPDIR": str(folder / "tmp"),
            "GIT_CONFIG_GLOBAL": str(folder / "gitconfig"), "GIT_CONFIG_NOSYSTEM": "1",
        }  # fmt: skip
        self._folders = [self.home, self.repository, self.elsewhere, folder / "tmp"]
        self._printed: list[str] = []
        self._token = ""
        if not _AUDIT:
            _AUDIT.append(Audit())
        self._audit = _AUDIT[0]
        self._kept = folder / "kept"
        self._make()
        self.archive = Project(self.repository, self.home).archive

    def enter(self) -> None:
        """Make this process one of the world's."""
        set_home(self.home)  # makes its file in the folder for temporary files, which is not the world's yet
        os.environ.clear()
        os.environ.update(self.environment)
        tempfile.tempdir = self.environment["TMPDIR"]
        os.chdir(self.repository)

    def meet(self, meet: Callable[[World, bytes], None], data: bytes) -> None:
        """Give an input to the product and check what holds of all kinds. Raises BrokenError."""
        self.count += 1
        self._restore()
        self._printed.clear()
        self._audit.found.clear()
        token = self._token = token_of(data)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        try:
            meet(self, self._filled(data, token))
            self._check(data, token)
        finally:
            os.chdir(self.repository)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory
        expect(grown < MOST_MEMORY, f"the process grew by {grown >> 10} MiB")

    def hook(self, event: str, part: str = "", /, **fields: object) -> Done:
        """Run a hook of the project's session, and check its exit status and output."""
        return self.hook_given(event, part, self._event(event, fields))

    def hook_given(self, event: str, part: str, stdin: bytes) -> Done:
        """Run a hook with anything on its stdin, and check its exit status and output.

        An input that names a folder of this machine outside of the world is left out: the hook would work there. So is
        a transcript with the token in its path: paths are kept as they are.
        """
        if self._is_left_out(stdin):
            return Done(0, "", "")
        if self.is_whole:
            done = self._whole(_hook_command(event, part), stdin)
        else:
            done = self._inside(lambda: hook.run(event, *([part] if part else [])), stdin)
        expect(done.code == 0, f"{event} exits with {done.code}: {done}")
        expect("Traceback" not in done.err, f"{event} prints a traceback: {done}")
        _check_answer(event, done.out)
        return done

    def _is_left_out(self, stdin: bytes) -> bool:
        try:
            given = json.loads(stdin)
        except (ValueError, RecursionError):
            return False
        if not isinstance(given, dict):
            return False
        folder = given.get("cwd")
        if self._token in str(given.get("transcript_path")):
            return True
        if not isinstance(folder, str) or "\0" in folder or not os.path.isdir(folder):
            return False
        return not Path(os.path.realpath(folder)).is_relative_to(os.path.realpath(self.root))

    def run(self, *arguments: str, codes: Sequence[int] = (0, 1)) -> Done:
        """Run a command, and check its exit code."""
        if self.is_whole:
            done = self._whole((sys.executable, "-m", "unified_state.interfaces.cli.main", *arguments), b"")
        else:
            done = self._inside(lambda: _exit_code(arguments), b"")
        expect(done.code in codes, f"`{' '.join(arguments)[:100]}` exits with {done.code}: {done}")
        expect("Traceback" not in done.err, f"`{' '.join(arguments)[:100]}` prints a traceback: {done}")
        return done

    def within(self, action: Callable[[], int]) -> Done:
        """Run anything of the product inside this process, under the same watch."""
        return self._inside(action, b"")

    def said(self, text: str) -> None:
        """Note what else the product gave out, which must hold no secret."""
        self._printed.append(text)

    def decisions(self, status: str = "") -> dict[str, str]:
        """The decisions that were recorded, or those of one status, with their ids."""
        listed = json.loads(self.run("decision", "list", "--all", "--json", codes=(0,)).out)
        return {item["id"]: item["decision"] for item in listed if status in ("", item.get("status", "active"))}

    def check_nothing_lost(self) -> None:
        """What was recorded before the input is there, holds, and can be added to."""
        added = json.loads(self.run("decision", "add", "one more", "--rationale", "r", "--json", codes=(0,)).out)["id"]
        there = self.decisions()
        expect(there.get("D1") == DECISION, f"the decision is gone: {there}")
        expect(there.get(added) == "one more", f"what was recorded behind the input is gone: {there}")
        denied = self.hook("PreToolUse", session_id="another", **DENIED).out  # an input may say where its own began
        expect('"deny"' in denied, f"the constraint does not hold: {denied!r}")
        brief = self.hook("SessionStart", "brief", source="startup", session_id="another").out
        is_told = DECISION in brief or "D1" not in self.decisions("active")  # an input may supersede it
        expect(is_told, f"the next session is not told: {brief!r}")

    def check_state(self) -> None:
        """The state file is valid by the published schema."""
        try:
            valid_state((self.repository / ".claude" / "unified-session-state.json").read_bytes())
        except (AssertionError, ValueError, OSError) as error:
            fail(f"the state file is not valid: {error}")

    def _event(self, event: str, fields: Mapping[str, object]) -> bytes:
        given = {
            "hook_event_name": event, "cwd": str(self.repository), "session_id": SESSION,
            "transcript_path": str(self.transcript), **fields,
        }  # fmt: skip
        return json.dumps(given).encode()

    def _filled(self, data: bytes, token: str) -> bytes:
        """The input with this world's paths and its token in it."""
        places = {"TOKEN": token, "REPOSITORY": self.repository, "ELSEWHERE": self.elsewhere, "HOME": self.home}
        for name, value in {**places, "TRANSCRIPT": self.transcript, "TRAP": self.repository / "trap"}.items():
            data = data.replace(f"@{name}@".encode(), str(value).encode())
        return data

    def _check(self, data: bytes, token: str) -> None:
        self._check_places()
        if b"@TOKEN@" in data:
            given = [folder for folder in (self.home / ".local", self.root / "tmp") if folder.exists()]
            written = _written(given).decode("utf-8", "replace")
            for place, text in (("printed", "\n".join(self._printed)), ("written", written)):
                found = _readable(token, text)
                expect(found is None, f"an unmasked secret is {place}: {found}")

    def _check_places(self) -> None:
        """Nothing was changed but what is the product's own."""
        expect(not self._audit.found, f"it left its folders: {self._audit.found[:5]}")
        outside = [path for path in self._changed(self._before) if not is_allowed(os.path.relpath(path, self.root))]
        expect(not outside, f"changed outside of its folders: {outside[:5]}")

    def _whole(self, command: Sequence[str], stdin: bytes) -> Done:
        try:
            done = subprocess.run(
                list(command), input=stdin, capture_output=True, cwd=self.repository, env=self.environment,
                timeout=SECONDS, check=False,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            fail(f"{' '.join(command[-3:])} hangs")
        return self._noted(done.returncode, done.stdout, done.stderr.decode("utf-8", "replace"))

    def _inside(self, action: Callable[[], int], stdin: bytes) -> Done:
        """Run something of the product as a process of its own would: its streams are files."""
        given, printed = self.root / "stdin", self.root / "stdout"
        given.write_bytes(stdin)
        error = io.StringIO()
        before, writes_none = sys.stdin, sys.dont_write_bytecode
        with given.open(encoding="utf-8") as source, printed.open("w", encoding="utf-8") as out, _limits() as late:
            sys.stdin, sys.dont_write_bytecode = source, True  # Python's own files in a fresh checkout are not ours
            try:
                with redirect_stdout(out), redirect_stderr(error), self._audit.watch(self.root):
                    code = action()
            finally:
                sys.stdin, sys.dont_write_bytecode = before, writes_none
        expect(not late, f"it takes longer than {CPU_SECONDS} s of the processor or {SECONDS} s")
        return self._noted(code, printed.read_bytes(), error.getvalue())

    def _noted(self, code: int, out: bytes, error: str) -> Done:
        try:
            done = Done(code, out.decode(), error)
        except UnicodeDecodeError as problem:
            fail(f"what is printed is not UTF-8: {problem}")
        self._printed += [done.out, done.err]
        return done

    def _make(self) -> None:
        for folder in (*self._folders, self._kept):
            folder.mkdir(parents=True)
        (self.root / "gitconfig").write_text("[user]\n\tname = Tester\n\temail = tester@example.invalid\n")
        (self.repository / "a.py").write_text("print(1)\n")
        for command in _SHARED:
            subprocess.run(command, cwd=self.repository, env=self.environment, check=True, capture_output=True)
        shutil.rmtree(self.repository / ".git" / "hooks", ignore_errors=True)
        (self.repository / ".git" / "info").mkdir(exist_ok=True)
        self.enter()
        self.transcript.write_bytes(told().content)
        self.run("decision", "add", DECISION, "--rationale", "one file", codes=(0,))
        self.run(
            "constraint", "add", RULE, "--source", "s", "--scope", "command:git push --force", "--mode", "deny",
            codes=(0,),
        )  # fmt: skip
        self.hook("PreCompact", trigger="auto")
        self.hook("SessionStart", "brief", source="startup")
        self._whole_listing = self._before = self._listing()
        for folder in self._folders:
            shutil.copytree(folder, self._kept / folder.name, symlinks=True)

    def _listing(self) -> Listing:
        """Every path of the world with what a change of it changes."""
        found: Listing = {}
        pending = [str(folder) for folder in self._folders]
        while pending:
            for entry in os.scandir(pending.pop()):
                status = entry.stat(follow_symlinks=False)
                is_folder = entry.is_dir(follow_symlinks=False)
                found[entry.path] = (status.st_mode,) if is_folder else (
                    status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino,
                )  # fmt: skip
                if is_folder:
                    pending.append(entry.path)
        return found

    def _changed(self, before: Listing) -> list[str]:
        now = self._listing()
        return sorted(path for path in {*now, *before} if now.get(path) != before.get(path))

    def repair(self) -> None:
        """Put back every file of the repository, as a user repairs it."""
        self._check_places()
        os.chdir(self.root)
        self._put_back([path for path in self._changed(self._whole_listing) if path.startswith(str(self.repository))])
        os.chdir(self.repository)
        self.is_laid_out()

    def is_laid_out(self) -> None:
        """From now on changes are the product's."""
        self._before = self._listing()

    def _restore(self) -> None:
        """Put back every file that is not as it was."""
        self.transcript.write_bytes(told().content)
        changed = self._changed(self._whole_listing)
        self._put_back(changed)
        if changed:
            self._whole_listing = self._listing()
        self._before = self._whole_listing

    def _put_back(self, changed: list[str]) -> None:
        for path in reversed(changed):
            if os.path.isdir(path) and not os.path.islink(path):
                shutil.rmtree(path, ignore_errors=True)
            elif os.path.lexists(path):
                os.unlink(path)
        for path in changed:
            if path in self._whole_listing:
                kept = self._kept / os.path.relpath(path, self.root)
                if kept.is_dir():
                    shutil.copytree(kept, path, symlinks=True, dirs_exist_ok=True)
                else:
                    shutil.copy2(kept, path, follow_symlinks=False)


def told() -> Transcript:
    """The session that is there before any input."""
    written = Transcript(SESSION, cwd="/home/dev/project")
    for number in range(3):
        written.turn(number)
    return written


def token_of(data: bytes) -> str:
    """A made-up token that an input has in place of each `@TOKEN@`; the same each time."""
    chance = random.Random(sha256(data).digest())
    return "ghp_" + "aB3" + "".join(chance.choices(string.ascii_letters + string.digits, k=33))


def _written(folders: Sequence[Path]) -> bytes:
    """Every byte below some folders, and what archives hold compressed, where they are whole."""
    try:
        return all_bytes(folders)
    except sqlite3.DatabaseError:
        return b"\n".join(path.read_bytes() for folder in folders for path in folder.rglob("*") if path.is_file())


def _readable(token: str, text: str) -> str | None:
    """Where a token stands as a word of its own, with what is around it. Part of a longer word it is no token."""
    found = re.search(rf"(?<![A-Za-z0-9_-]){token}(?![A-Za-z0-9_-])", text)
    return None if found is None else repr(text[max(0, found.start() - 60) : found.end() + 20])


def _hook_command(event: str, part: str) -> list[str]:
    """The command line of a hook, isolated as `install` writes it, for any event."""
    code = "from unified_state.interfaces.hook import main; main()"
    found = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(hook.__file__))))
    isolated = f"import sys; sys.path.insert(0, {found!r}); {code}"
    return [sys.executable, "-I", "-S", "-c", isolated, event, *([part] if part else [])]


def _check_answer(event: str, printed: str) -> None:
    """What a hook prints is what the client takes for an answer of this event."""
    if event == _PLAIN or not printed:
        return
    for line in printed.splitlines():
        try:
            answer = json.loads(line)
        except ValueError:
            fail(f"{event} prints what is no JSON: {line[:300]!r}")
        expect(isinstance(answer, dict), f"{event} prints no object: {line[:300]}")
        expect(set(answer) <= {"hookSpecificOutput", "systemMessage"}, f"{event} prints {sorted(answer)}")
        specific = answer.get("hookSpecificOutput")
        if specific is not None:
            expect(specific.get("hookEventName") == event, f"{event} answers for {specific.get('hookEventName')}")
            text = specific.get("additionalContext", "")
            expect(isinstance(text, str), f"{event} gives a context that is no text")
            expect(not _CONTROL.search(text), f"{event} gives control characters: {_around(text)}")
            expect(event not in _CONTEXT_EVENTS or text, f"{event} gives an empty context")


def _around(text: str) -> str:
    found = _CONTROL.search(text)
    return repr(text[max(0, found.start() - 80) : found.end() + 40]) if found else ""


def _exit_code(arguments: Sequence[str]) -> int:
    try:
        return cli.run(arguments)
    except SystemExit as error:
        return int(error.code or 0)


@contextmanager
def _limits() -> Iterator[list[int]]:
    """Interrupts what takes too long. What is interrupted may catch that, so the list says whether it was."""
    late: list[int] = []

    def interrupt(number: int, _: object) -> None:
        late.append(number)
        fail("it takes too long")

    timers = {
        signal.SIGPROF: (signal.ITIMER_PROF, CPU_SECONDS, 2),
        signal.SIGALRM: (signal.ITIMER_REAL, SECONDS, 10),
    }
    before = {number: signal.signal(number, interrupt) for number in timers}
    for timer, seconds, again in timers.values():
        signal.setitimer(timer, seconds, again)
    try:
        yield late
    finally:
        for number, (timer, _, _) in timers.items():
            signal.setitimer(timer, 0)
            signal.signal(number, before[number])
