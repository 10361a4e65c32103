"""Secrets recognized by their position: `curl -u ann:…`, `mysql -p…`, `machine … password …`, `ENV TOKEN …`.

It is loaded where a text has a sign of one. Texts are ASCII bytes, as `secret_tokens` explains. A command may also be
inside JSON, with its quotes and newlines escaped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from unified_state.secrets.rules.secret_assignments import kind_of_name
from unified_state.secrets.rules.secret_tokens import Found
from unified_state.secrets.rules.secret_values import is_placeholder

# The options of each program whose value is a password, or has one after a colon.
_PROGRAMS = {
    b"curl": (b"-u", b"--user", b"-U", b"--proxy-user"),
    b"redis-cli": (b"-a", b"--pass"),
    **dict.fromkeys((b"mysql", b"mysqldump", b"mysqladmin", b"mariadb"), (b"-p",)),
    **dict.fromkeys((b"sshpass", b"login", b"mongo", b"mongosh"), (b"-p",)),  # docker login, podman login …
    b"ldapsearch": (b"-w",),
}
_ONLY_ATTACHED = (b"mysql", b"maria")  # for these `-p word` names a database
_QUOTES = b"\"'`\\"
_QUOTE, _BLANK = rb"[\"'`\\]{0,9}", rb"(?:[ \t\r]|\\t){1,99}"
_ANY_BLANK = rb"(?:[ \t\r\n]|\\[nt]){1,99}"  # a line end too
_VALUE = rb"((?:(?!\\[nt])[^ \t\r\n]){1,500})"
_OPTION = re.compile(
    rb"[ \t\r]" + _QUOTE + rb"(?:(-[puUaw])(" + _QUOTE + rb",?" + _BLANK + rb")?"
    rb"|(--user|--proxy-user|--pass)" + _QUOTE + rb",?(?:" + _BLANK + rb"|=))" + _QUOTE + _VALUE
)
_COMMAND = re.compile(
    rb"(?:^|[\s\"'`(\[{,:=|;&/]|\\n)(" + b"|".join(map(re.escape, _PROGRAMS)) + rb")(?=[\s\"'`\\,]|\Z)"
    rb"(?:(?!\\n)[^\n|;&]|(?<=[^\s&])&(?=[^\s&]))*\Z"  # an address may have an &
)
_HEAD = 200  # characters before an option in which its program is
_SETTING = re.compile(  # set -x NAME value, of fish
    rb"(?:(?<![\w-])|(?<=\\[a-z]))(?:ENV|set(?:env)?" + _BLANK + rb"-[a-zA-Z]{0,9}[xgUu][a-zA-Z]{0,9})" + _BLANK
    + _QUOTE + rb"([\w-]{1,120})" + _QUOTE + _BLANK + _QUOTE + _VALUE
)  # fmt: skip
_NETRC = re.compile(
    rb"machine" + _ANY_BLANK + rb"\S{1,200}?" + _ANY_BLANK + rb"login" + _ANY_BLANK + rb"\S{1,200}?" + _ANY_BLANK
    + rb"password" + _ANY_BLANK + _QUOTE + _VALUE
)  # fmt: skip


def find_by_place(data: bytes) -> Iterator[Found]:
    """Yield the secrets in a text (ASCII bytes) that are recognized by their position, in any order."""
    at = 0
    while match := _OPTION.search(data, at):
        at = match.start(3) if match[3] else match.start(1) + 1  # its value may be an option
        command = _COMMAND.search(data[max(0, match.start() - _HEAD) : match.start()])
        option = match[1] or match[3]
        if command is None or option not in _PROGRAMS[command[1]]:
            continue
        if match[2] and command[1].startswith(_ONLY_ATTACHED):
            continue
        start = match.start(4)
        if command[1] == b"curl":
            start += len(match[4].partition(b":")[0]) + 1
        yield from _password(data, start, match.end(4), "password")
    for match in _NETRC.finditer(data):
        yield from _password(data, *match.span(1), "password")
    for match in _SETTING.finditer(data):
        yield from _password(data, *match.span(2), kind_of_name(match[1]))


def _password(data: bytes, start: int, end: int, kind: str | None) -> Iterator[Found]:
    value = data[start:end].rstrip(_QUOTES + b",;)")
    is_literal = len(value) >= 4 and not value.isdigit() and value[:1] not in b"-/.$<{[("  # noqa: PLR2004
    if kind and is_literal and not is_placeholder(value):
        yield start, start + len(value), kind
