"""A session of Claude Code without the client: its transcript is written as the client writes it, and the installed
hooks run as processes of their own at the same places.

Invariant: a session in a temporary folder with a home of its own; nothing of the user's is read or written.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field, replace
from itertools import groupby
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from benchmarks.transcripts import Entry, said
from evaluation.dry_run.grep import grepped
from evaluation.dry_run.stories import Story, Work, as_line
from tests.acceptance.product import Done, Project, restored
from tests.acceptance.transcripts import Transcript

_NONCE, _NOW = re.compile(r"nonce=\w+"), re.compile(r"(?<=Session state of )\S+Z")
_SUMMARY_HEAD = re.compile(r"\A.*?(?=\n(?:Analysis|Summary|\d+\. |<))", re.DOTALL)


@dataclass
class Told:
    """What the product gave to the last prompt of a story: at its session start, with the prompt, before the call."""

    brief: str = ""
    working_set: str = ""
    prompt: str = ""
    call: str = ""
    found: str = ""
    """What `search` and `show` printed to an agent that looks the prompt up."""
    grepped: str = ""
    """What `grep` printed to an agent that looks for the prompt's rarest words in the transcript."""


@dataclass
class Session:
    """One story in `folder`; `told` fills as it is played."""

    story: Story
    folder: Path
    told: Told = field(default_factory=Told)

    def __post_init__(self) -> None:
        project, home = self.folder / "project", self.folder / "home"
        for path in (project, home):
            path.mkdir(parents=True)
        self.project = Project(project, home)
        self.session_id = str(uuid5(NAMESPACE_URL, self.story.name))
        self.written = Transcript(self.session_id, cwd=str(project))
        self.path = home / ".claude" / "projects" / "p" / f"{self.session_id}.jsonl"

    def play(self) -> Told:
        """Play the story to its last prompt, and return what the product tells."""
        self.compact_all()
        self._ask()
        return self.told

    def play_again(self, story: Story) -> Told:
        """Ask the last prompt of another story that is the same up to there; the files are put back afterwards."""
        kept = self.folder.with_name(f"{self.folder.name}-kept")
        written, told = deepcopy(self.written), replace(self.told)
        shutil.copytree(self.folder, kept, symlinks=True)
        self.story = story
        try:
            self._ask()
            return self.told
        finally:
            shutil.rmtree(self.folder)
            kept.rename(self.folder)
            self.written, self.told = written, told

    def compact_all(self) -> None:
        """Play the story up to its last prompt.

        The prompts between are archived with the transcript: a hook would give them the time of this run, which is
        later than the next compaction, and what follows would not count as the first prompt after it.
        """
        self._prepare()
        for said_ in self.story.decided:
            (self.written.prompt if said_.role == "user" else self.written.text)(said_.text)
        for number, work in enumerate(self.story.works):
            self._work(number, work)
            self._compact(work)

    def _prepare(self) -> None:
        settings = self.project.home / ".config" / "unified-state" / "config.toml"
        settings.parent.mkdir(parents=True)
        settings.write_text("prompt_milliseconds = 60000\n", encoding="utf-8")  # a busy machine gives the same
        git = ["git", "-C", str(self.project.folder)]
        if self.story.module:
            module = self.project.folder / self.story.module
            module.parent.mkdir(parents=True, exist_ok=True)
            module.write_text("", encoding="utf-8")
        for arguments in (
            ["init", "--quiet"],
            ["add", "--all"],
            [*_AUTHOR, "commit", "--quiet", "--allow-empty", "-m", "x"],
        ):
            subprocess.run([*git, *arguments], check=True, capture_output=True, env=_git_environment(self.project.home))
        self._must(self.project.run("install", "--reminders", "on", CLAUDECODE=""))

    def _work(self, number: int, work: Work) -> None:
        """Append real work to the transcript, with ids of this session."""
        for place, entry in enumerate(work.entries):
            kept = {name: value for name, value in entry.items() if name not in _OURS}
            line: Entry = json.loads(as_line(kept, work, str(self.project.folder)))
            message = line.get("message")
            if isinstance(message, dict) and "id" in message:
                message["id"] = f"{message['id']}_{number}"
            self.written.entry(str(entry["type"]), **{**line, "place": place})

    def _compact(self, work: Work) -> None:
        """What the client does at a compaction, in its order."""
        self.project.keep(self.written, self.path)
        summary = f"<summary>\n{_SUMMARY_HEAD.sub('', work.summary, count=1).strip()}\n</summary>"
        self._hook("SubagentStop", agent_type="", agent_id="compact", last_assistant_message=summary)
        texts = restored(self.project, self.path, session_id=self.session_id)
        self.told.brief, self.told.working_set = texts["brief"], texts["working_set"]
        self.written.entry(
            "system", subtype="compact_boundary", compactMetadata={"trigger": "auto", "preTokens": 150_000}
        )
        content = {"role": "user", "content": work.summary}
        self.written.entry("user", message=content, isCompactSummary=True, isVisibleInTranscriptOnly=True)
        for text in filter(None, texts.values()):
            self.written.entry("attachment", attachment={"type": "hook_additional_context", "content": [text]})

    def _ask(self) -> None:
        """The last prompt, the call that the agent makes for it, and what it finds when it looks the prompt up."""
        story = self.story
        self.told.prompt = self._hook("UserPromptSubmit", prompt=story.prompt)
        self.written.prompt(story.prompt)
        if story.module:
            self.told.call = self._before_edit(self.project.folder / story.module)
        self.told.found = self._look_up(story.prompt)
        self.told.grepped = grepped(self.path, self.folder / "grepped.jsonl", story.prompt)
        for name, text in vars(self.told).items():
            setattr(self.told, name, self._same(text))

    def _same(self, text: str) -> str:
        """A text without what differs from run to run: folder, nonce, and the time at which the state was saved."""
        return _NOW.sub("2026-01-01T00:00:00.000Z", _NONCE.sub("nonce=x", text.replace(str(self.folder), "/folder")))

    def _before_edit(self, path: Path) -> str:
        """What the hooks in the project's settings say before an edit of a file."""
        settings = json.loads((self.project.folder / ".claude" / "settings.local.json").read_text(encoding="utf-8"))
        given = {"file_path": str(path), "old_string": "a", "new_string": "b"}
        texts = []
        for group in settings.get("hooks", {}).get("PreToolUse", []):
            if "Edit" not in group.get("matcher", "Edit").split("|"):
                continue
            for handler in group["hooks"]:
                fields = {"session_id": self.session_id, "tool_name": "Edit", "tool_input": given}
                stdin = self.project.event("PreToolUse", transcript_path=str(self.path), **fields)
                environment = {"CLAUDE_PROJECT_DIR": str(self.project.folder), "CLAUDECODE": "1"}
                command = [handler["command"], *handler["args"]]
                texts.append(_context(self._must(self.project.execute(command, stdin, environment))))
        return "\n".join(filter(None, texts))

    def _look_up(self, prompt: str) -> str:
        """An agent's two look-ups: a search for the whole prompt, and its best hits in full."""
        hits = self.project.ask("search", prompt, "--limit", str(_HITS))
        refs = [hit["ref"] for hit in hits][:_SHOWN]
        searched = self._must(self.project.run("search", prompt, "--limit", str(_HITS))).out
        shown = [self._must(self.project.run("show", ref)).out for ref in refs]
        return "\n".join([searched, *shown])

    def _hook(self, event: str, **fields: object) -> str:
        path = str(self.written.write(self.path))
        return _context(
            self._must(self.project.hook(event, session_id=self.session_id, transcript_path=path, **fields))
        )

    def _must(self, done: Done) -> Done:
        if done.code or self.project.log():
            message = f"{self.story.name}: a process of the product failed: {done.err or self.project.log()}"
            raise RuntimeError(message)
        return done


_HITS, _SHOWN = 10, 5
_OURS = {"parentUuid", "uuid", "sessionId", "timestamp", "type", "cwd", "gitBranch", "version", "logicalParentUuid"}
_AUTHOR = ("-c", "user.name=x", "-c", "user.email=x@example.org")


def _git_environment(home: Path) -> Mapping[str, str]:
    date = "2026-01-01T00:00:00Z"  # so that the commit has the same id in every run
    dates = {"GIT_AUTHOR_DATE": date, "GIT_COMMITTER_DATE": date}
    return {"HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "GIT_CONFIG_NOSYSTEM": "1", **dates}


def prompt_of(entry: Entry) -> str:
    """What a user typed there; "" for anything else."""
    message = entry.get("message")
    typed = isinstance(message, dict) and isinstance(message.get("content"), str)
    return said(entry) if entry.get("type") == "user" and typed else ""


def _context(done: Done) -> str:
    """The text that a hook gives to the model."""
    try:
        output = json.loads(done.out).get("hookSpecificOutput", {}) if done.out else {}
    except ValueError:
        return done.out
    return str(output.get("additionalContext", ""))


def play(stories: Sequence[Story]) -> list[Told]:
    """What the product tells in each story; stories of one session are played together."""
    groups = [list(group) for _, group in groupby(stories, key=lambda story: (story.decided, story.works))]
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        return [told for group in pool.map(play_group, groups) for told in group]


def play_group(stories: Sequence[Story]) -> list[Told]:
    """Play stories that are the same up to their last prompt."""
    with tempfile.TemporaryDirectory(prefix="unified-state-") as folder:
        session = Session(stories[0], Path(folder) / "s")
        session.compact_all()
        return [session.play_again(story) for story in stories]
