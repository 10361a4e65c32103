"""Secrets recognized by their position: `curl -u ann:…`, `mysql -p…`, `machine … password …`, `ENV TOKEN …`.

Each search starts from a keyword that precedes the secret. Texts are ASCII bytes, as `secret_tokens` explains. A
command may also be inside JSON, with its quotes and newlines escaped.
"""

from __future__ import annotations

from unified_state.memory.secrets.rules.secret_names import kind_of_name
from unified_state.memory.secrets.rules.secret_values import NAME, OPTIONS, is_placeholder

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    Found = tuple[int, int, str]
    Word = tuple[int, bytes]  # its start, and its text without quotes

_LONGEST_COMMAND = 500
_MOST_WORDS = 40
_ENDS = frozenset((b"|", b"||", b"&&", b";", b"&", b"\n"))
_QUOTES = b"\"'`\\"
_BLANKS = bytes.maketrans(b"\t\r", b"  ")
_SEPARATORS = bytes.maketrans(b"\t\r\"'`([{,:=|;&", b" " * 11 + b"\n" * 3)

# For each program: the options whose value is a password, and those whose value has one after a colon.
_PROGRAMS: dict[bytes, tuple[tuple[bytes, ...], tuple[bytes, ...]]] = {
    b"curl": ((), (b"-u", b"--user", b"-U", b"--proxy-user")),
    b"mysql": ((b"-p",), ()),
    b"mysqldump": ((b"-p",), ()),
    b"mysqladmin": ((b"-p",), ()),
    b"mariadb": ((b"-p",), ()),
    b"redis-cli": ((b"-a", b"--pass"), ()),
    b"sshpass": ((b"-p",), ()),
    b"login": ((b"-p",), ()),  # docker login, podman login, helm registry login
    b"mongo": ((b"-p",), ()),
    b"mongosh": ((b"-p",), ()),
    b"ldapsearch": ((b"-w",), ()),
}
_SETTINGS = frozenset((b"set", b"ENV", b"setenv"))  # set -x NAME value, of fish
_LONGEST_HEAD = 200
_ONLY_ATTACHED = frozenset((b"mysql", b"mysqldump", b"mysqladmin", b"mariadb"))  # for these `-p word` names a database


def find_by_place(data: bytes) -> Iterator[Found]:
    """Yield the secrets in a text (ASCII bytes) that are recognized by their position, in any order."""
    at = data.find(b" -")
    while at >= 0:
        if data.startswith(OPTIONS, at + 2):
            yield from _in_command(_command_at(data, at))
        at = data.find(b" -", at + 2)
    for at in _occurrences(data, b"machine ") if b"machine " in data else ():
        yield from _in_netrc(list(_words(data, at, over_lines=True)))
    for at in _occurrences(data, b"ENV") if b"ENV" in data else ():
        yield from _in_setting(list(_words(data, at))[1:])


def _command_at(data: bytes, at: int) -> list[Word]:
    """Return the words of the command that an option belongs to, from its program on; none for an unknown program."""
    head = data[max(0, at - _LONGEST_HEAD) : at].replace(b"\\n", b" \n").translate(_SEPARATORS).rpartition(b"\n")[2]
    start = at - len(head)
    for piece in head.split(b" "):
        program = piece.strip(_QUOTES + b"([{,").rpartition(b"/")[2]
        if program in _PROGRAMS or program in _SETTINGS:
            return [(start, program), *_words(data, start + len(piece))]
        start += len(piece) + 1
    return []


def _occurrences(data: bytes, word: bytes) -> Iterator[int]:
    at = data.find(word)
    while at >= 0:
        if at == 0 or data[at - 1 : at] not in _NAME_BYTES or data[at - 2 : at - 1] == b"\\":
            yield at
        at = data.find(word, at + len(word))


_NAME_BYTES = frozenset(bytes((one,)) for one in NAME)


def _words(data: bytes, at: int, *, over_lines: bool = False) -> Iterator[Word]:
    """Yield the words from `at` on: those of one command, or with `over_lines` of the next lines too."""
    part = data[at : at + _LONGEST_COMMAND].replace(b"\\n", b" \n").replace(b"\\t", b"  ").translate(_BLANKS)
    part = part.replace(b"\n", b" ") if over_lines else part.partition(b"\n")[0]
    offset = 0
    for number, piece in enumerate(part.split(b" ")):
        if piece in _ENDS or number > _MOST_WORDS:
            return
        word = piece.lstrip(_QUOTES)
        if piece:
            yield at + offset + len(piece) - len(word), word.rstrip(_QUOTES + b",;)")
        offset += len(piece) + 1


def _in_command(words: list[Word]) -> Iterator[Found]:
    if len(words) < 2:  # noqa: PLR2004
        return
    program = words[0][1]
    if program in _SETTINGS:
        yield from _in_setting(words[2:])
    plain, paired = _PROGRAMS.get(program, ((), ()))
    for (start, word), (behind, value) in zip(words[1:], [*words[2:], (0, b"")], strict=True):
        for option in (*plain, *paired):
            found = _option_value(program, option, (start, word), (behind, value))
            if found is None:
                continue
            place, secret = found
            if option in paired:
                user, colon, secret = secret.partition(b":")
                place += len(user) + len(colon)
            if _is_password(secret):
                yield place, place + len(secret), "password"


def _option_value(program: bytes, option: bytes, word: Word, following: Word) -> Word | None:
    """Return the value of an option: after a blank, after `=`, or attached to its letter. None if the word is no such
    option.
    """
    start, text = word
    if text == option:
        return None if program in _ONLY_ATTACHED else following
    if not text.startswith(option):
        return None
    if option.startswith(b"--"):
        return (start + len(option) + 1, text[len(option) + 1 :]) if text[len(option) :][:1] == b"=" else None
    rest = text[len(option) :].lstrip(_QUOTES)
    return start + len(text) - len(rest), rest


def _is_password(value: bytes) -> bool:
    return len(value) >= 4 and not value.isdigit() and value[:1] not in b"-/.$<{[(" and not is_placeholder(value)  # noqa: PLR2004


def _in_netrc(words: list[Word]) -> Iterator[Found]:
    names = [word for _, word in words[:8]]
    if names[2:3] == [b"login"] and names[4:5] == [b"password"] and len(names) > 5 and _is_password(names[5]):  # noqa: PLR2004
        yield words[5][0], words[5][0] + len(names[5]), "password"


def _in_setting(words: list[Word]) -> Iterator[Found]:
    """Yield the value in `ENV NAME value` if the name is that of a secret."""
    if len(words) > 1 and (kind := kind_of_name(words[0][1])) and _is_password(words[1][1]):
        yield words[1][0], words[1][0] + len(words[1][1]), kind
