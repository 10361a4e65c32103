"""What the client keeps of a session beside its transcript: the folder of the transcript's name."""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

TRANSCRIPT_END = ".jsonl"
_RECORD_END = ".meta.json"
_SUBAGENTS = "subagents"
_HOOK_OUTPUT = "hook-"  # what a hook printed and the client found too long: a hook's, not a tool's


def session_folder(transcript_path: str) -> str:
    """The folder of a session, which need not exist."""
    return transcript_path.removesuffix(TRANSCRIPT_END)


def subagent_transcripts(folder: str) -> Iterator[tuple[str, str]]:
    """The transcripts of a session's subagents, each with the agent's id."""
    for path in _files_in(os.path.join(folder, _SUBAGENTS)):
        name = os.path.basename(path)
        if name.startswith("agent-") and name.endswith(TRANSCRIPT_END):
            yield path, name[len("agent-") : -len(TRANSCRIPT_END)]


def subagent_records(folder: str) -> list[str]:
    """What the client notes of each subagent beside its transcript, as soon as it has begun."""
    return [path for path in _files_in(os.path.join(folder, _SUBAGENTS)) if path.endswith(_RECORD_END)]


def tool_result_files(folder: str) -> list[str]:
    """The results that were too long for the transcript."""
    paths = _files_in(os.path.join(folder, "tool-results"))
    return [path for path in paths if not os.path.basename(path).startswith(_HOOK_OUTPUT)]


def _files_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entry.path for entry in entries if entry.is_file(follow_symlinks=False))
    except OSError:
        return []
