"""The quick look at a tool call catches all that the judge would say."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from unified_state.constraints.check_call import Locator
from unified_state.constraints.rules import changed_files
from unified_state.constraints.rules.judge_call import Judge
from unified_state.constraints.rules.quick_match import (
    CHANGING_PROGRAMS,
    edited_file,
    may_change_files,
    may_match,
    may_run_us,
)
from unified_state.lib.record import disk_value
from unified_state.lib.shell.shell_line import DEEPEST
from unified_state.model.constraint import DENY, Enforced

_PROGRAMS = sorted(CHANGING_PROGRAMS)
_WORDS = st.sampled_from(
    [
        *_PROGRAMS,
        *("-Srm", "env -S", "env -i -Stee"),
        *("/bin/rm", "rm.exe", "./mv", "sudo", "env", "xargs", "nice", "time", "bash -c", "sh -c", "exec", "eval"),
        *(
            "if",
            "then",
            "fi",
            "for",
            "in",
            "do",
            "done",
            "while",
            "case",
            "esac",
            "function",
            "ls",
            "cat",
            "npm",
            "make",
        ),
        *(
            "-i",
            "-f",
            "-exec",
            "-delete",
            "-o=a.py",
            "--output=src/a.py",
            "of=src/a.py",
            "A=1",
            "src/a.py",
            "a.py",
            ".",
        ),
        *(
            "&&",
            "||",
            "|",
            ";",
            "&",
            ";;",
            ">",
            ">>",
            ">|",
            "<",
            "<<EOF",
            "$(",
            ")",
            "`",
            "'",
            '"',
            "\\",
            "{",
            "}",
            "\n",
        ),
        *("r''m", 'g"i"t', "$'\\x72m'", "$X", "X=rm", "*", "?m", "[r]m", "#", "!", "~/a.py", "(", "@", "%", "+", ":"),
        *("push", "--force", "apply", "checkout", "-C", "..", "tee", "-", "--", "pushd", "cd", "src"),
    ]
)
_LINES = st.lists(_WORDS, max_size=9).map(" ".join) | st.text(max_size=40)
_COMMANDS = st.sampled_from(["git push --force", "rm -rf", "/usr/bin/make x", "g?t push", "*", "npm"])
_PATHS = st.sampled_from(["src/**", "a.py", "*.py", "/etc/**", "src"])
_TOOLS = st.sampled_from(["Bash", "Edit", "Read", "mcp__fs__*", "B?sh", "*", "Write"])
_SCOPES = st.fixed_dictionaries(
    {name: st.lists(one, max_size=2) for name, one in {"commands": _COMMANDS, "paths": _PATHS, "tools": _TOOLS}.items()}
)
_CALLED = st.sampled_from(
    ["Bash", "Edit", "Read", "Write", "Grep", "MultiEdit", "NotebookEdit", "mcp__fs__write_file", "mcp__fs__read_file"]
)
_FIELDS = st.dictionaries(
    st.sampled_from(["file_path", "path", "paths", "notebook_path", "edits", "uri", "source", "pattern"]),
    st.sampled_from(["src/a.py", "a.py", "/etc/passwd", "b.txt", ["src/a.py"], [{"path": "src/a.py"}], 7, None]),
    max_size=3,
)


def _enforced(scope: dict[str, list[str]]) -> Enforced:
    given = {name: tuple(patterns) for name, patterns in scope.items()}
    return Enforced(ref="C1", text="t", source="s", origin="user_said", at="", mode=DENY, meant=DENY, **given)


def _checked(scope: dict[str, list[str]], tool: str, call: dict[str, Any], folder: str = "/repo") -> None:
    """The quick look finds whatever the judge finds."""
    constraint = _enforced(scope)
    judge = Judge(tool, call, Locator("/repo", folder, folds_case=False).forms)
    if judge.breaches([constraint]):
        edited = edited_file(tool, call, folder)
        assert may_match(disk_value(constraint), tool, call, edited), (scope, tool, call)


@given(_SCOPES, _LINES)
def test_the_quick_look_catches_every_line_that_the_judge_would_stop(scope: dict[str, list[str]], line: str) -> None:
    _checked(scope, "Bash", {"command": line})


@given(_SCOPES, _CALLED, _FIELDS)
def test_the_quick_look_catches_every_call_that_the_judge_would_stop(
    scope: dict[str, list[str]], tool: str, fields: dict[str, Any]
) -> None:
    _checked(scope, tool, fields)


_NAMES = st.sampled_from(
    ["src", "a.py", "gen", "A.PY", ".", "..", "", "x*", "~", "étude", "*", "**", "s?c", "/etc", "b"]
)


@given(
    st.lists(_NAMES, min_size=1, max_size=4).map("/".join),
    st.sampled_from(["Edit", "Write", "NotebookEdit", "MultiEdit"]),
    st.lists(_NAMES, min_size=1, max_size=5).map("/".join) | st.text(max_size=12),
    st.sampled_from(["file_path", "notebook_path"]),
    st.sampled_from(["", "file://", "/repo/", "/REPO/src/", "/"]),
    st.sampled_from([{}, {"file_path": "src/a.py"}, {"notebook_path": "gen"}, {"content": [{"path": "src/a.py"}]}]),
    st.sampled_from(["/repo", "/repo/src", "", "src"]),
)
def test_the_quick_look_catches_every_edit_that_the_judge_would_stop(  # parts of a call
    pattern: str, tool: str, path: str, field: str, begin: str, others: dict[str, Any], folder: str
) -> None:
    call = {"content": "x", **others, field: begin + path}
    _checked({"commands": [], "paths": [pattern], "tools": []}, tool, call, folder)


@given(st.lists(_WORDS, max_size=9).map(" ".join))
def test_a_line_that_changes_files_is_never_taken_for_a_reading_one(line: str) -> None:
    _checked({"commands": [], "paths": ["*"], "tools": []}, "Bash", {"command": line})


_ENVS, _OPTIONS = st.sampled_from(["env", "sudo env", "env -i"]), st.sampled_from(["", "-S", "--split-string="])


@given(_WORDS, _OPTIONS, _ENVS)
def test_a_program_in_an_option_of_env_is_seen(program: str, option: str, wrapper: str) -> None:
    _checked({"commands": [], "paths": ["*"], "tools": []}, "Bash", {"command": f"{wrapper} {option}{program} a.py"})


def test_a_line_of_more_commands_than_the_judge_reads_gets_the_judge() -> None:
    for count in (1, DEEPEST, DEEPEST + 1, 100):
        _checked({"commands": [], "paths": ["*"], "tools": []}, "Bash", {"command": "sudo " * count + "ls"})


def test_it_knows_every_program_whose_files_the_judge_finds() -> None:
    found = vars(changed_files)
    tables = ("_ALL", "_LAST", "_WHOLE_FOLDERS", "_IN_PLACE", "_PACKERS", "_OUTPUTS", "_READERS")
    assert {"find", *(name for table in tables for name in found[table])} == CHANGING_PROGRAMS


def test_most_lines_are_not_given_to_the_judge() -> None:
    assert not any(
        map(may_change_files, ("ls -la src", "npm test && cat src/a.py | head -20", "grep -rn x ./src; pwd"))
    )
    assert all(map(may_change_files, ("rm a", "ls > a", "x | tee a", "/bin/RM a", "$X a", "echo 'a'", "ls\nrm a")))
    edits = {"paths": ["src/**"]}
    assert [may_match(edits, tool, {"file_path": "b.py"}) for tool in ("Read", "Edit")] == [False, True]
    written = [edited_file("Edit", {"file_path": path}, "/w") for path in ("b.py", "/w/src/b.py", "../b.py", "~/b.py")]
    assert written == ["/w/b.py", "/w/src/b.py", "", ""]
    assert [may_match(edits, "Edit", {}, path) for path in written] == [False, True, True, True]


def test_a_call_of_our_own_program_is_always_given_to_the_judge() -> None:
    assert may_run_us("env -u CLAUDECODE uni'fied-state' constraint lift C1")
    assert not may_run_us("ls")
    assert not may_run_us(None)
