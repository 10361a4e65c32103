"""What hooks use of the standard library, in its lightest and safest form: JSON, SQLite, files that are read, an alarm.

`import json` costs a hook 6 ms (it loads `re` and `enum`), `import sqlite3` another 3 ms (it loads `datetime`). A bare
interpreter starts in 7 ms. The interpreter's own C halves of both modules do the same work and load at once. They are
private to CPython, so only this file uses them. If they are missing or changed, the public modules are used instead,
and the tests run both.

The output is strict JSON. NaN and the infinities, which JSON does not have, become null, as in JavaScript.

Every file that the package reads is opened by `open_regular` or `read_regular`: opening a named pipe would block.
"""

from __future__ import annotations

import sys
from stat import S_ISREG

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os as system
    from collections.abc import Callable
    from io import BufferedReader
    from sqlite3 import Connection, DatabaseError, IntegrityError, OperationalError, connect, sqlite_version_info
    from typing import Any

    Codec = tuple[Callable[[str], Any], Callable[[Any], str], Callable[[Any], str]]
else:
    try:
        import posix as system  # what `os` takes its functions from: `os` itself costs a hook 1.5 ms
    except ImportError:
        import nt as system

    def __getattr__(name):  # noqa: ANN001, ANN202  # the names are typed above
        """Load SQLite for the first name requested: the hook before tool calls needs none."""
        if name not in __all__:
            message = f"module {__name__!r} has no attribute {name!r}"
            raise AttributeError(message)
        globals().update(_sqlite())
        return globals()[name]

    def _sqlite():  # noqa: ANN202
        names = ("Connection", "DatabaseError", "IntegrityError", "OperationalError", "connect")
        try:
            _sqlite3 = _import_sqlite()
            found = {name: getattr(_sqlite3, name) for name in names}
            found["sqlite_version_info"] = tuple(map(int, _sqlite3.sqlite_version.split(".")))
        except (ImportError, AttributeError):  # not CPython, or a CPython in which it was renamed
            try:
                import sqlite3
            except ImportError:
                return _without_sqlite()
            found = {name: getattr(sqlite3, name) for name in (*names, "sqlite_version_info")}
        return found

    def _import_sqlite():  # noqa: ANN202
        """Import the C half of `sqlite3`. From `functools` it takes the cache of a connection's statements alone.

        Loading `functools`, and `collections` with it, takes longer than SQLite itself. So unless it is loaded already,
        an object with the C half of that cache replaces it during the import.
        """
        if "functools" not in sys.modules:
            try:
                sys.modules["functools"] = _statement_cache()
                import _sqlite3
            except (ImportError, AttributeError):  # a CPython that takes more from `functools`
                pass
            finally:
                sys.modules.pop("functools", None)
        import _sqlite3

        return _sqlite3

    def _statement_cache():  # noqa: ANN202
        from _functools import _lru_cache_wrapper

        class StatementCache:
            @staticmethod
            def lru_cache(size):  # noqa: ANN001, ANN205
                return lambda prepare: _lru_cache_wrapper(prepare, size, False, tuple)

        return StatementCache

    def _without_sqlite():  # noqa: ANN202
        """Return replacements for SQLite's names in a Python that was built without it. `connect` raises."""
        from unified_state.errors import ArchiveUnavailableError

        def connect(*_arguments, **_options):  # noqa: ANN002, ANN003, ANN202
            raise ArchiveUnavailableError(NO_SQLITE, "use another Python; hooks note each turn for later")

        class DatabaseError(Exception):
            """Never raised."""

        errors = dict.fromkeys(("DatabaseError", "IntegrityError", "OperationalError"), DatabaseError)
        return {**errors, "Connection": object, "connect": connect, "sqlite_version_info": (0,)}


NO_SQLITE = "this Python has no SQLite"


def has_sqlite() -> bool:
    """Return whether this Python has SQLite. Some are built without it."""
    return bool(getattr(sys.modules[__name__], "sqlite_version_info") > (0,))  # noqa: B009  # __getattr__ loads it


__all__ = [
    "LARGE_FILE",
    "NO_SQLITE",
    "SMALL_FILE",
    "Connection",
    "DatabaseError",
    "IntegrityError",
    "NotOursError",
    "OperationalError",
    "connect",
    "dump_ascii_json",
    "dump_json",
    "has_sqlite",
    "is_own",
    "not_ours",
    "open_regular",
    "parse_json",
    "parse_object",
    "read_own",
    "read_regular",
    "set_alarm",
    "sha256_digits",
    "sqlite_version_info",
    "system",
]


def _null(_constant: str) -> None:
    """Return None, the value for NaN and the infinities."""


class _ScannerOptions:
    """The options of `json.JSONDecoder`. It is not strict, since transcripts have raw control characters."""

    strict = False
    object_hook = None
    object_pairs_hook = None
    parse_float = float
    parse_int = int
    parse_constant = staticmethod(_null)


def _not_json(value: object) -> object:
    message = f"a {type(value).__name__} has no JSON form"
    raise TypeError(message)


def _strict(parse: Callable[[str], Any], encoder: Callable[[bool], Callable[[Any], str]]) -> Callable[[Any], str]:
    """Return a function that writes strict JSON. `encoder(allow_nan)` returns an encoder that may write NaN and
    infinities.
    """
    encode, encode_leniently = encoder(False), encoder(True)

    def dump(value: Any) -> str:
        try:
            return encode(value)
        except ValueError:
            return encode(parse(encode_leniently(value)))

    return dump


def _accelerated() -> Codec:
    from _json import encode_basestring, encode_basestring_ascii, make_encoder, make_scanner

    scan = make_scanner(_ScannerOptions())  # type: ignore[arg-type]  # the stub has the wrong class
    whitespace = " \t\r\n"

    def parse(text: str) -> Any:
        if text[:1] in whitespace:
            text = text.lstrip(whitespace)
        try:
            value, end = scan(text, 0)
        except StopIteration as error:
            message = f"the JSON text ends too early or holds no value at character {error.value}"
            raise ValueError(message) from None
        except SystemError:  # up to 3.12 the scanner finds its own error class only where json.decoder is loaded
            message = "the JSON text is damaged"
            raise ValueError(message) from None
        while text[end : end + 1] in whitespace and end < len(text):
            end += 1
        if end != len(text):
            message = f"the JSON text goes on after its end, at character {end}"
            raise ValueError(message)
        return value

    def encoder(escape: Callable[[str], str], allow_nan: bool) -> Callable[[Any], str]:
        encode = make_encoder(None, _not_json, escape, None, ":", ",", False, False, allow_nan)
        return lambda value: "".join(encode(value, 0))

    dump = _strict(parse, lambda allow_nan: encoder(encode_basestring, allow_nan))
    dump_ascii = _strict(parse, lambda allow_nan: encoder(encode_basestring_ascii, allow_nan))
    sample = {"a": [1, None, "é\ud83d", 2.5, True]}
    if parse(dump(sample)) != sample or parse(dump_ascii(sample)) != sample:
        message = "the accelerated JSON of this interpreter does not work as expected"
        raise ImportError(message)
    return parse, dump, dump_ascii


def _public() -> Codec:
    import json

    parse = json.JSONDecoder(strict=False, parse_constant=_null).decode

    def encoder(ensure_ascii: bool, allow_nan: bool) -> Callable[[Any], str]:
        return json.JSONEncoder(separators=(",", ":"), ensure_ascii=ensure_ascii, allow_nan=allow_nan).encode

    dump = _strict(parse, lambda allow_nan: encoder(ensure_ascii=False, allow_nan=allow_nan))
    dump_ascii = _strict(parse, lambda allow_nan: encoder(ensure_ascii=True, allow_nan=allow_nan))
    return parse, dump, dump_ascii


# `dump_json` does not escape characters, for people and for the index. `dump_ascii_json` escapes them, so that any
# stream can carry them, including lone surrogates.
try:
    parse_json, dump_json, dump_ascii_json = _accelerated()
except (ImportError, TypeError, AttributeError):
    parse_json, dump_json, dump_ascii_json = _public()


def parse_object(text: str | bytes, errors: str = "replace") -> dict[str, Any] | None:
    """Return the object of a JSON text; None for any other text. `errors` is for bytes that are no UTF-8."""
    try:
        value = parse_json(text if isinstance(text, str) else text.decode("utf-8", errors))
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def sha256_digits(raw: bytes) -> str:
    """Return the SHA-256 of a small content in hexadecimal digits. `hashlib` loads OpenSSL first, which takes 3 ms."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:  # not CPython, or one that has OpenSSL's alone
        from hashlib import sha256
    return str(sha256(raw).hexdigest())


SMALL_FILE, LARGE_FILE = 1 << 20, 1 << 24  # bytes at most of a file that we write, and of one that others write
_READ = system.O_RDONLY | getattr(system, "O_NONBLOCK", 0) | getattr(system, "O_BINARY", 0)
_EACCES, _EINVAL, _EFBIG = 13, 22, 27


def open_regular(path: str, buffering: int = -1) -> BufferedReader:
    """Open a regular file for reading. Raises OSError."""
    return open(_opened(path)[0], "rb", buffering)  # type: ignore[return-value]  # without a buffer it is a FileIO


def read_regular(path: str, limit: int) -> bytes:
    """Return the content of a regular file. Raises OSError, also if the file has more than `limit` bytes.

    Files of /proc have no size, so they count as empty: reading /proc/kmsg would block.
    """
    return _content(*_opened(path), path, limit)


def read_own(path: str, limit: int, *owners: int) -> bytes:
    """Return the content of a file of ours. Raises NotOursError for one that is not this user's alone (`not_ours`), and
    OSError as `read_regular` does.
    """
    descriptor, found = _opened(path)
    reason = not_ours(found, *owners)
    if reason:
        system.close(descriptor)
        raise NotOursError(_EACCES, reason, path)
    return _content(descriptor, found, path, limit)


class NotOursError(OSError):
    """A file of ours belongs to another user, or others may write to it, so what it holds is not used."""


def not_ours(found: system.stat_result, *owners: int) -> str:
    """Return why a file or folder is not this user's alone, or "".

    Its owner must be this user, root or one of `owners`. Nobody else may write to it: neither all users nor a group,
    unless it is this user's private one, with which the umask usually is 002. The mode 0777 says nothing, because file
    systems without modes have it for every file.
    """
    if found.st_uid not in (0, *owners) and not is_own(found.st_uid):
        return f"it belongs to another user ({found.st_uid})"
    mode = found.st_mode & 0o777
    if not hasattr(system, "geteuid") or mode == 0o777 or not mode & 0o022:  # noqa: PLR2004
        return ""  # Windows has no such modes
    is_private = not mode & 0o002 and _is_private_group(found.st_gid)
    return "" if is_private else f"other users may write to it (mode {mode:03o})"


def _is_private_group(group: int) -> bool:
    """Return whether a group is this user's alone: the number or the name of both is the same, as `useradd` has it."""
    if group != system.getegid():
        return False
    if group == system.geteuid():
        return True
    import grp  # files of ours are hardly ever writable for a group
    import pwd

    try:
        return grp.getgrgid(group).gr_name == pwd.getpwuid(system.geteuid()).pw_name
    except KeyError:
        return False


def is_own(user: int) -> bool:
    """Return whether the owner of a file is this user; for root also the user behind `sudo`, as git has it."""
    if not hasattr(system, "geteuid"):
        return True  # Windows names no owner so
    own = system.geteuid()
    return user == own or (own == 0 and system.environ.get(b"SUDO_UID") == str(user).encode())  # type: ignore[call-overload]  # in bytes, as the system has it


def _content(descriptor: int, found: system.stat_result, path: str, limit: int) -> bytes:
    size = found.st_size
    try:
        if size > limit:
            raise OSError(_EFBIG, f"it has more than {limit:,} bytes", path)
        content = system.read(descriptor, size)
        while len(content) < size and (more := system.read(descriptor, size - len(content))):
            content += more
        return content
    finally:
        system.close(descriptor)


def _opened(path: str) -> tuple[int, system.stat_result]:
    """Return the descriptor and the properties of a regular file."""
    try:
        descriptor = system.open(path, _READ)
    except ValueError as error:  # a NUL, or half of a surrogate pair
        raise OSError(_EINVAL, "no file can have this name", path) from error
    found = system.fstat(descriptor)
    if S_ISREG(found.st_mode):
        return descriptor, found
    system.close(descriptor)
    raise OSError(_EINVAL, "it is not a regular file", path)


def set_alarm(seconds: float, act: Callable[[], None]) -> None:
    """Call `act` in the main thread after so many seconds, and then every second.

    It does nothing on Windows, which has no such signal.
    """
    try:
        import _signal as signals  # type: ignore[import-not-found]  # `signal` itself loads `enum`: 3 ms
    except ImportError:
        import signal as signals
    if not hasattr(signals, "setitimer"):
        return
    signals.signal(signals.SIGALRM, lambda _number, _frame: act())
    signals.setitimer(signals.ITIMER_REAL, seconds, 1.0)
