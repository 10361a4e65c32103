"""Promise 7: what is kept is the user's own: private from birth, without secrets, without what was said in private."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.amount import amount

from .product import Project, all_bytes, hook_command
from .secrets import planted, readable_in, secret_texts
from .striking import command_struck_at, hook_struck_at, is_stopped
from .transcripts import Transcript

OPEN_UMASK = ("sh", "-c", 'umask 0; exec "$@"', "sh")
PRIVATE = "Mauve-Orchid-Quixotic-77"
OWN_FILE = ("mask_secrets = false\n", 'data_dir = "{elsewhere}"\n')


def readable_by_others(project: Project) -> list[str]:
    """What other users of the machine could read of ours. (Folders of the user's own are the user's.)"""
    ours = [project.data, *project.data.rglob("*"), *project.state_path.parent.glob("unified-session-state*")]
    return [f"{path} {path.stat().st_mode:o}" for path in ours if path.exists() and path.stat().st_mode & 0o077]


def everything_we_wrote(project: Project) -> bytes:
    """Every byte of ours, also what is compressed."""
    return all_bytes([project.data, project.state_path.parent])


def use_everything(project: Project, written: Transcript, path: Path) -> None:
    """Make every kind of file that we ever write."""
    written.turn(1)
    written.prompt("export API_KEY=" + "sk_live_" + "4eC39HqLyjWDarjtT1zdp7dc")
    written.write(path)
    assert project.run("install").code == 0
    project.decide("kept")
    (project.folder / ".claude" / "unified-state.toml").write_text("restore_tokens = 1500\n", encoding="utf-8")
    for event in ("SessionStart", "UserPromptSubmit", "PreCompact", "Stop", "SessionEnd"):
        part = "brief" if event == "SessionStart" else ""
        assert project.hook(event, part, transcript_path=str(path), source="startup").code == 0
    assert project.hook_given("Stop", b"garbage").code == 0
    project.state_path.write_bytes(b"{")
    assert project.run("save").code == 0
    project.archive.write_bytes(b"garbage")
    assert project.run("decision", "add", "after", "--rationale", "r").code == 0
    assert project.run("forget", "--secrets").code == 0
    assert project.run("uninstall").code == 0


def test_every_file_of_ours_is_the_user_s_alone(project: Project, tmp_path: Path) -> None:
    private = Project(project.folder, project.home, OPEN_UMASK)
    use_everything(private, Transcript("s"), tmp_path / "s.jsonl")
    assert readable_by_others(project) == []


def test_no_file_of_ours_is_ever_readable_by_others_from_its_birth_on(project: Project, tmp_path: Path) -> None:
    """A process is stopped before each of its touches of a file, and what is there by then is looked at."""
    written = Transcript("s")
    written.turn(1)
    path = str(written.write(tmp_path / "s.jsonl"))
    (project.home / ".config" / "unified-state").mkdir(parents=True)
    (project.home / ".config" / "unified-state" / "config.toml").write_text("restore_tokens = 1500\n", encoding="utf-8")
    found: set[str] = set()
    for struck in ("hook", "command"):
        for point in range(1, 1000, amount(1, 3)):
            if struck == "hook":
                command = hook_struck_at(point, tmp_path, hook_command("PreCompact"), "stop")
            else:
                command = command_struck_at(point, tmp_path, "decision", "add", "x", "--rationale", "r", how="stop")
            stdin = project.event("PreCompact", transcript_path=path)
            with subprocess.Popen([*OPEN_UMASK, *command], stdin=subprocess.PIPE, cwd=project.folder) as process:
                assert process.stdin is not None
                process.stdin.write(stdin)
                process.stdin.close()
                stopped = is_stopped(process.pid)
                found |= {line.replace(str(process.pid), "PID") for line in readable_by_others(project)}
                if stopped:
                    process.kill()
                else:
                    process.returncode = 0
            if not stopped:
                assert point > 5
                break
    assert found == set()


def test_secrets_of_every_kind_are_in_no_byte_of_any_file_we_write(project: Project, tmp_path: Path) -> None:
    texts, written = secret_texts(), Transcript("s")
    assert len(planted()) > 100
    for text in texts:
        written.prompt(text)
        written.says({"type": "thinking", "thinking": text, "signature": "x"}, {"type": "text", "text": text})
        written.call("Bash", {"command": text, "env": {"nested": [text]}}, text)
        written.entry("attachment", attachment={"type": "queued_command", "prompt": text})
        written.entry("attachment", attachment={"type": "file", "displayPath": ".env", "content": text})
    written.compaction("\n".join(texts))
    path = written.write(tmp_path / "s.jsonl")
    (tmp_path / "s" / "tool-results").mkdir(parents=True)
    (tmp_path / "s" / "tool-results" / "toolu_1.txt").write_text("\n".join(texts), encoding="utf-8")
    everything = "\n".join(texts)
    fields = {"transcript_path": str(path), "last_assistant_message": everything, "compact_summary": everything}
    for event, more in (
        ("UserPromptSubmit", {"prompt": everything}),
        ("PreCompact", {"trigger": "manual"}),
        ("SubagentStop", {"agent_type": ""}),
        ("SessionStart", {"source": "compact"}),
        ("Stop", {}),
        ("SessionEnd", {}),
    ):
        part = "brief" if event == "SessionStart" else ""
        assert project.hook(event, part, **{**fields, **more}).code == 0
    assert readable_in(everything_we_wrote(project), planted()) == set()


def test_secrets_in_git_are_not_copied_into_our_files(project: Project) -> None:
    token = "ghp_" + "5uryx45JQro25G3Uk5KBaaEGIUe8lcaNMUo6"
    for arguments in (
        ("commit", "--quiet", "--allow-empty", "--message", f"remove the token {token}"),
        ("remote", "add", "origin", f"https://ann:{token}@github.com/acme/app.git"),
    ):
        subprocess.run(["git", *arguments], cwd=project.folder, check=True)
    (project.folder / f"notes {token}.txt").write_text("x", encoding="utf-8")
    assert [project.run("save").code, project.run("install").code] == [0, 0]
    assert project.hook("PreCompact").code == 0
    assert project.hook("SessionStart", "brief", source="startup").code == 0
    assert readable_in(everything_we_wrote(project), {token}) == set()


def test_secrets_in_a_problem_are_masked_in_the_log_the_health_and_the_bug_report(
    project: Project, tmp_path: Path
) -> None:
    token = "ghp_" + "5uryx45JQro25G3Uk5KBaaEGIUe8lcaNMUo6"
    project = Project(project.folder, tmp_path / token)  # the message names the file
    project.home.mkdir()
    project.decide("so that there is an archive")
    path = project.archive
    path.unlink()
    path.mkdir()  # a folder in the place of a file is a problem, damage would be set aside
    assert project.hook("Stop", last_assistant_message="done").code == 0
    restored = project.hook("SessionStart", "brief", source="startup").out
    bug = "import sys\nfrom unified_state.interfaces.cli import argument_parser, main as cli\n"
    bug += "def f(*_): raise ValueError(sys.argv[1])\nargument_parser.parse = f\n"
    assert project.execute((sys.executable, "-c", bug + "cli.main(['status'])", token), "", {}).code == 3
    files = (path for path in project.data.rglob("*") if path.is_file() and path.suffix != ".db")
    notes = [path for path in files if path.parent.name != "ways"]  # a way has to name the data folder as it is
    assert {"hook.log", "Stop", "bug-report.txt"} <= {path.name for path in notes}
    assert [path.name for path in notes if readable_in(path.read_bytes(), {token})] == []
    assert readable_in(restored.encode(), {token}) == set()


@pytest.mark.parametrize(
    "prompt",
    [
        f"fix it <private>{PRIVATE}</private> now",
        f"fix it <private>{PRIVATE}",
    ],
)
def test_what_is_said_in_private_is_not_stored(project: Project, tmp_path: Path, prompt: str) -> None:
    written = Transcript("s")
    written.raw({"type": "queue-operation", "operation": "enqueue", "content": prompt})
    written.prompt(prompt)
    written.prompt([{"type": "text", "text": prompt}])
    written.entry("attachment", attachment={"type": "queued_command", "prompt": prompt})
    written.entry("user", message={"role": "user", "content": prompt}, isSidechain=True, agentId="a1")
    written.entry("user", message={"role": "user", "content": prompt}, isMeta=True)  # a slash command's own text
    written.raw({"type": "last-prompt", "prompt": prompt})
    path = str(written.write(tmp_path / "s.jsonl"))
    for event in ("UserPromptSubmit", "PreCompact", "Stop"):
        assert project.hook(event, transcript_path=path, prompt=prompt).code == 0
    assert len(project.export("s")) == 5
    assert readable_in(everything_we_wrote(project), {PRIVATE}) == set()


@pytest.mark.parametrize("place", ["project file", "environment"])
@pytest.mark.parametrize("setting", OWN_FILE)
def test_a_project_cannot_turn_masking_off_or_move_the_archive(
    project: Project, tmp_path: Path, place: str, setting: str
) -> None:
    elsewhere = tmp_path / "elsewhere"
    name, _, value = setting.format(elsewhere=elsewhere).partition(" = ")
    variables = {"XDG_DATA_HOME": str(elsewhere), "XDG_CONFIG_HOME": str(project.folder)}
    if place == "environment":
        variables[f"UNIFIED_STATE_{name.upper()}"] = value.strip('"\n')
    else:
        (project.folder / ".claude").mkdir()
        (project.folder / ".claude" / "unified-state.toml").write_text(f"{name} = {value}", encoding="utf-8")
    written = Transcript("s")
    written.prompt("export DB_PASSWORD=" + "Correct-Horse-Battery")
    event = project.event("UserPromptSubmit", transcript_path=str(written.write(tmp_path / "s.jsonl")))
    assert project.execute(hook_command("UserPromptSubmit"), event, variables).code == 0
    done = project.run("decision", "add", "the DB_PASSWORD=" + "Correct-Horse-Battery", "--rationale", "r", **variables)
    assert done.code == 0, done
    assert not elsewhere.exists()
    assert readable_in(everything_we_wrote(project), {"Correct-Horse-Battery"}) == set()
    assert name in project.run("config", **variables).err


def test_a_session_that_is_switched_off_is_in_no_file_and_no_other_one_catches_up_on_it(
    project: Project, tmp_path: Path
) -> None:
    for session, text, switch in (("s1", PRIVATE, {"UNIFIED_STATE_DISABLE": "1"}), ("s2", "on the record", {})):
        written = Transcript(session, cwd=str(project.folder))
        written.prompt(text)
        fields = {"session_id": session, "transcript_path": str(written.write(tmp_path / f"{session}.jsonl"))}
        for event, part in (("SessionStart", "brief"), ("UserPromptSubmit", ""), ("Stop", ""), ("SessionEnd", "")):
            stdin = project.event(event, prompt=text, source="startup", **fields)
            assert project.execute(hook_command(event, part), stdin, switch).code == 0
        assert project.data.exists() is not bool(switch)
    assert {line["session_id"] for line in project.export()} == {"s2"}
    assert PRIVATE.encode() not in everything_we_wrote(project)
