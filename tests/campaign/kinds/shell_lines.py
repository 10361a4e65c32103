"""Shell lines, as the guard of a constraint reads them.

A line that bash takes as complete cannot hide a command on the line behind it. A line in which nothing is expanded, and
that does not name the command, is not stopped.
"""

from __future__ import annotations

import re
import shutil
import subprocess

from tests.campaign.kind import Kind, expect
from tests.campaign.world import World
from unified_state.constraints.rules.judge_call import Forms, Judge
from unified_state.model.constraint import DENY, USER_SAID, EnforcedRow

_FORBIDDEN = "git push --force"
_RULE = EnforcedRow(
    ref="C1", text="no", source="s", origin=USER_SAID, at="", mode=DENY, meant=DENY, commands=(_FORBIDDEN,)
)
_EXPANDS = re.compile(r"[$`*?\[\]{}~\\!<>'\"\x00-\x08\x0b-\x1f]")
_BASH = shutil.which("bash") or ""


def seeds() -> list[bytes]:
    """Lines with all that the shell has."""
    return [
        line.encode()
        for line in (
            "ls -la | grep x && echo done || true", "for f in *.py; do echo $f; done", "if [ -f a ]; then cat a; fi",
            "cat <<EOF\ngit push --force\nEOF", "cat <<'EOF' > x\n$(git push -f)\nEOF", "f() { echo a; }; f",
            "env A=1 sudo -u x git push -f origin", "bash -c 'git push --force'", "x=$(git push -f); echo `date`",
            "git -C /x push origin +main", "case $x in a) echo b;; *) git push;; esac", "echo $'\\x2df' \"a $b\" 'c'",
            "(cd x && git status) > /dev/null 2>&1 &", "xargs -n1 git push <<< '--force'",
            "while read l; do :; done < f", "echo ${a-<<b} $[1<<2]",
            "git commit -m 'never git push --force'", "echo ${a:-b} ${#c} $((1+2)) {a,b}", "! time -p ls; [[ a == b ]]",
            "timeout 5 nohup git push -f &", "git push --force-with-lease # no", "function f { ls; }", "a=(1 2 3)",
            "cat <<-A <<B\n\tx\n\tA\ny\nB", "select x in a; do break; done", "coproc cat", "exec 3<>f; echo >&3",
        )
    ]  # fmt: skip


def meet(world: World, data: bytes) -> None:
    """The line alone, and with a forbidden command behind it."""
    line = data.decode("utf-8", "replace").replace("\0", "")
    modes: dict[str, list[str]] = {}

    def judge() -> int:
        for text in (line, f"{line}\n{_FORBIDDEN}"):
            modes[text] = [breach.mode for breach in Judge("Bash", {"command": text}, _locate).breaches([_RULE])]
        return 0

    world.within(judge)
    alone, behind = modes.values()
    plain = not _EXPANDS.search(line)
    expect(not (plain and alone and not {"git", "push"} <= set(re.findall(r"\w+", line))), f"stopped: {line!r} {alone}")
    if not behind:
        expect(not _is_complete(line), f"not stopped behind {line!r}")


def _locate(path: str, folder: str) -> Forms:
    return Forms(absolute=(f"{folder}/{path}",), relative=(path,))


def _is_complete(line: str) -> bool:
    """Whether bash reads the line to its end without a word, and goes on behind it."""
    if not _BASH or line.rstrip("\r\n \t").endswith("\\") or re.search(r"\bexit\b|\breturn\b|\bexec\b|\balias\b", line):
        return False
    done = subprocess.run([_BASH, "-n"], input=f"{line}\n".encode("utf-8", "replace"), capture_output=True, check=False)
    return done.returncode == 0 and not done.stderr


KIND = Kind(
    "shell lines", seeds, meet,
    ("git", "push", "--force", "-f", "<<", "<<-", "<<<", "$(", ")", "`", "${", "}", "((", "))", "[[", "]]", "case",
     "esac",
     "in", "do", "done", "then", "fi", "if", "while", "for", "function", ";;", "|&", "&>", ">|", "\\\n", "sudo",
     "env", "sh -c",
     "eval", "xargs", "EOF", "#", "coproc", "select", "time", "!"),
)  # fmt: skip
