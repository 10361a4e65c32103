from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from unified_state.lib.shell.shell_line import MOST_CHARACTERS, UnreadableError, read_commands


def words(line: str) -> list[list[str]]:
    """The words of each command, in the order they end."""
    return [command.words for command in read_commands(line) if command.words]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a b", [["a", "b"]]),
        ("a && b || c; d & e | f |& g\nh", [["a"], ["b"], ["c"], ["d"], ["e"], ["f"], ["g"], ["h"]]),
        ("a 'b c' \"d e\" f\\ g", [["a", "b c", "d e", "f g"]]),
        ("a 'b'\"c\"d", [["a", "bcd"]]),
        ("a ''", [["a", ""]]),
        ("a 'it'\\''s'", [["a", "it's"]]),
        ("a $'b\\nc\\'d' $\"e f\"", [["a", "b\nc'd", "e f"]]),
        ("a b\\\nc", [["a", "bc"]]),
        ("a\r\nb\r\n", [["a"], ["b"]]),
        ("a <\r\nb", [["a"], ["b"]]),
        ("a # b; c\nd#e", [["a"], ["d#e"]]),
        ("(a; b) && { c; }", [["a"], ["b"], ["{", "c"], ["}"]]),
        ("a $(b 'c)') d", [["b", "c)"], ["a", "$()", "d"]]),
        ('a "x $(b "y z") w"', [["b", "y z"], ["a", "x $() w"]]),
        ("a `b 'c'` d", [["b", "c"], ["a", "$()", "d"]]),
        ("a `b \\`c\\``", [["c"], ["b", "$()"], ["a", "$()"]]),
        ("a `b'`\nc", [["b"], ["a", "$()"], ["c"]]),
        ('a \'$(b)\' "\\$(c)" "\\`d\\`"', [["a", "$(b)", "$(c)", "`d`"]]),
        ("a <(b) >(c)", [["b"], ["c"], ["a", "$()", "$()"]]),
        ("ab$${\nc; d $$", [["ab$${"], ["c"], ["d", "$$"]]),
        ("a ${b:-$(c)} ${d}", [["c"], ["a", "${b:-$()}", "${d}"]]),
        ("x=$((1 << 2))\na", [["x=$()"], ["a"]]),
        ("((x <<= 2)); a", [["a"]]),
        ("$((a); b)", [["a"], ["b"], ["$()"]]),
        ("case x in a) b;; (c) d;; esac; e", [["case", "x", "in", "a"], ["b"], ["c"], ["d"], ["esac"], ["e"]]),
        ("a 'b", [["a", "b"]]),
        ("a $(b", [["b"], ["a", "$()"]]),
        ("a \"b $'c\" 'd'; e", [["a", "b $'c", "d"], ["e"]]),
        ('a "${b:-it\'s}"; c', [["a", "${b:-it's}"], ["c"]]),
        ('a "$"; b', [["a", "$"], ["b"]]),
        ("日本 '語'", [["日本", "語"]]),
    ],
)
def test_every_command_of_a_line_is_read_as_the_shell_reads_it(line: str, expected: list[list[str]]) -> None:
    assert words(line) == expected


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("a >b 2>c <d >>e >|f &>g 2>&1 >&- <>h", ["b", "c", "e", "f", "g", "h"]),
        ("a 2>'1'", []),
        ("a 'x'>b", ["b"]),
        (">b", ["b"]),
        ("[[ a > b ]]", []),
        ('a > "b c"', ["b c"]),
    ],
)
def test_the_files_that_a_command_is_redirected_to_are_known(line: str, expected: list[str]) -> None:
    assert [target for command in read_commands(line) for target in command.targets] == expected


def test_a_heredoc_is_what_its_command_reads_and_no_command() -> None:
    first, second = read_commands("a <<'X' | b\n$(c)\nX\nd")[0], read_commands("a <<-X\n\tc\n\tX\nd")
    assert (first.words, first.stdin) == (["a"], "$(c)")
    assert [command.words for command in second] == [["a"], ["d"]]
    assert second[0].stdin == "c"


def test_what_is_substituted_in_a_heredoc_runs() -> None:
    assert words("a <<X\n'$(b)'\nX\nc") == [["a"], ["b"], ["c"]]


def test_a_here_string_and_a_pipe_are_what_a_command_reads() -> None:
    assert read_commands("a <<< 'b c'")[0].stdin == "b c"
    feeder = read_commands("a b | c")[1].feeder
    assert feeder is not None
    assert feeder.words == ["a", "b"]


@pytest.mark.parametrize(
    ("line", "folders"),
    [
        ("a; cd b && c; cd /d; e", ["", "", "b", "b", "/d"]),
        ("(cd a; b); c", ["", "a", ""]),
        ("cd a; b $(cd c; d)", ["", "a", "a/c", "a"]),
    ],
)
def test_a_command_knows_which_folder_the_line_went_to(line: str, folders: list[str]) -> None:
    assert [command.folder for command in read_commands(line)] == folders


@pytest.mark.parametrize("line", ["$(" * 1000, "x" * (MOST_CHARACTERS + 1), "a[b <<c]d\ny\n"])
def test_what_is_too_deep_or_too_long_or_a_subscript_before_a_text_is_refused(line: str) -> None:
    with pytest.raises(UnreadableError):
        read_commands(line)


@pytest.mark.usefixtures("alarm")
@pytest.mark.parametrize(
    "piece",
    [
        "$((",
        "$(",
        "(",
        "`",
        "\\`",
        "${",
        "<<a\n",
        "cat <<a ",
        '"$(a)" ',
        "'",
        '"',
        "case x in ",
        "a'b\"",
        "<(",
        "\\",
        "$'",
    ],
)
def test_no_line_makes_it_hang(piece: str) -> None:
    try:
        read_commands((piece * MOST_CHARACTERS)[:MOST_CHARACTERS])
    except UnreadableError:
        return


BASH_LINES = (
    "p a 'b c' \"d'e\" f\\ g $'h\\ti' \"j\\\"k\"",
    "p 1; p 2 && p 3 || p 4; (p 5; p 6) | cat; { p 7; }",
    "p \"$(p 8 ')')\" `p 9` > /dev/null",
    "case x in a) p 10;; x) p 11;; esac; p 12",
    "p 13 <<'X'\np 14\nX\np 15 # p 16",
    "cat <<X > /dev/null\n$(p 17)\nX\nfor i in a; do p 18; done",
    "x=$((1<<2)); p 19; ((x<<=1)); p 20",
    "p \"${y:-its}\" ${y:-'a b'}; p 21",
    "if p 22; then p 23; else p 24; fi; ! p 25; [[ a < b ]] && p 26",
    "p 27 >/dev/null 2>&1 <<< 'p 28'; p $(p 29)",
    "f() { p 30; }; f; p 31 \\\n 32; p 'a\nb'",
    'p "a $\'b" 33; p \'\\\' 34; p "\\\\" 35; p a#b 36',
)


@pytest.mark.parametrize("line", BASH_LINES)
def test_every_command_that_bash_runs_was_read(line: str, tmp_path: Path) -> None:
    recorder = tmp_path / "p"
    recorder.write_text('#!/bin/bash\nprintf "%s\\0" "$#" "$@" >> "$RECORD"\n', encoding="utf-8")
    recorder.chmod(0o755)
    record = tmp_path / "record"
    path = f"{tmp_path}{os.pathsep}{os.environ['PATH']}"
    subprocess.run(
        ["bash", "-c", line], env={"PATH": path, "RECORD": str(record)}, check=False, capture_output=True, cwd=tmp_path
    )
    read = [command[command.index("p") + 1 :] for command in words(line) if "p" in command]
    for arguments in recorded(record.read_text(encoding="utf-8")):
        assert any(_alike(arguments, found) for found in read), arguments


@pytest.mark.parametrize(
    "line",
    [
        "echo ${y-<<a}\n",
        'echo "${y-"<<a"}"\n',
        "echo ${y-'}'<<a}\n",
        'echo ${y-"}"<<a}\n',
        "echo ${y- <<a}\n",
        "echo ${y- #} ;",
        "echo 1 $[1 + 1 <<a]\n",
        "cat <<<$[1<<2]\n",
    ],
)
def test_no_brace_makes_a_text_of_what_bash_runs(line: str) -> None:
    done = subprocess.run(["bash", "-c", f"{line} echo ran"], check=True, capture_output=True, text=True)
    assert done.stdout.endswith("ran\n")
    try:
        assert words(f"{line} p 1")[-1] == ["p", "1"]
    except UnreadableError:
        assert "<<" in line


def recorded(text: str) -> Iterator[list[str]]:
    """The arguments of each call."""
    fields = iter(text.split("\0")[:-1])
    for count in fields:
        yield [next(fields) for _ in range(int(count))]


def _alike(arguments: list[str], found: list[str]) -> bool:
    """Whether they are the same, but for what only the running shell knows."""
    literal = [word for word in found if "$" not in word]
    return set(literal) <= set(arguments) and (literal != found or found == arguments)


@given(st.text(alphabet="ab '\"\\$(){}`<>|&;#\n\t=-", max_size=60))
def test_any_line_can_be_read(line: str) -> None:
    assert all(isinstance(word, str) for command in read_commands(line) for word in command.words)


@given(st.lists(st.text(alphabet="ab '\"\\$(){}`<>|&;#\n\t=-~*é", max_size=8), min_size=1, max_size=5))
def test_what_a_library_quotes_is_read_back_word_for_word(given_words: list[str]) -> None:
    from shlex import join

    assert [command.words for command in read_commands(f"x {join(given_words)}")] == [["x", *given_words]]
