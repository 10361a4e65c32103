"""Quantities: a number with its unit, so that what is the same amount is the same however it is written."""

from __future__ import annotations

from unified_state.capture.rules.word_senses import AT_LEAST, AT_MOST
from unified_state.lib.record import Record

_UNITS = """
time .001 ms msec millisecond milliseconds 毫秒 ミリ秒
time 1 s sec secs second seconds 秒 초
time 60 min mins minute minutes 分钟 分 분 minuten
time 3600 h hr hrs hour hours 小时 時間 시간 stunden
time 86400 d day days 天 日 일 tage
time 604800 week weeks
month 1 month months
month 12 year years
size 1 byte bytes
size 1024 kb kib kilobyte kilobytes
size 1048576 mb mib megabyte megabytes
size 1073741824 gb gib gigabyte gigabytes
size 1099511627776 tb tib terabyte terabytes
part 1 % percent percentage pct
pixel 1 px pixel pixels
"""
UNITS = {
    unit: (dimension, float(factor))
    for dimension, factor, *units in map(str.split, _UNITS.strip().splitlines())
    for unit in units
}
_MANY = {"k": 1e3, "m": 1e6, "million": 1e6, "thousand": 1e3, "billion": 1e9, "hundred": 1e2, "dozen": 12.0}
_NUMERALS = """
zero=0 two=2 three=3 four=4 five=5 six=6 seven=7 eight=8 nine=9 ten=10 eleven=11 twelve=12 fifteen=15 twenty=20
thirty=30 forty=40 fifty=50 sixty=60 ninety=90 once=1 twice=2 thrice=3
"""
_NAMED = dict(numeral.split("=") for numeral in _NUMERALS.split())
_BOUNDS = {"≥": AT_LEAST, ">=": AT_LEAST, ">": AT_LEAST, "≤": AT_MOST, "<=": AT_MOST, "<": AT_MOST}
_MONEY = "$€£¥"


class Quantity(Record):
    """A number as it is compared: its key, its dimension, the bound that is written with it, the tokens it takes."""

    key: str
    dimension: str
    bound: str
    tokens: int


def read_quantity(token: str, following: str) -> Quantity | None:
    """The quantity that a token is, perhaps with the unit that follows it; None where it is none."""
    if token.isalpha() and token.lower() not in _NAMED:
        return None
    bare, bound = _bound(token)
    digits = bare.lstrip(_MONEY + "~≈+")
    if digits[:1] in {"v", "V"} and digits[1:2].isdigit():
        digits = digits[1:]
    elif bare.lower() in _NAMED:
        return _with_unit(_NAMED[bare.lower()], "", following, bound)
    length = _number_length(digits)
    if not length:
        return None
    number, suffix = digits[:length].replace(",", "").rstrip("."), digits[length:].lower()
    if suffix.endswith("+"):
        suffix, bound = suffix[:-1], AT_LEAST
    if suffix in {"st", "nd", "rd", "th", "x"}:
        suffix = ""
    if suffix and suffix not in UNITS and suffix not in _MANY:
        return None  # `404s`, `2fa`, `3d6f1c`: a name
    return _with_unit(number, suffix, following, bound)


def _bound(token: str) -> tuple[str, str]:
    for sign, bound in _BOUNDS.items():
        if token.startswith(sign) and len(token) > len(sign):
            return token[len(sign) :], bound
    return token, ""


def _number_length(text: str) -> int:
    """How many characters of a text are a number: `1,000`, `-3`, `3.11.2`, `2026-03-14`, `10:30`."""
    length = 1 if text[:1] == "-" and text[1:2].isdigit() else 0
    while length < len(text) and (
        text[length].isdecimal()
        or (
            text[length] in ".,:-"
            and text[length - 1 : length].isdecimal()
            and text[length + 1 : length + 2].isdecimal()
        )
    ):
        length += 1
    return length if text[:length].lstrip("-")[:1].isdecimal() else 0


def _with_unit(number: str, suffix: str, following: str, bound: str) -> Quantity:
    word, taken = suffix, 1
    if not suffix and (following.lower() in UNITS or following.lower() in _MANY):
        word, taken = following.lower(), 2
    elif not suffix:
        word = next((following[:length] for length in (2, 1) if _is_unit_in_front(following[:length])), "")
    if not number.lstrip("-").replace(".", "", 1).isdecimal():
        return Quantity(number, "", bound, 1)  # a version, a date, a time of day
    if word in UNITS:
        dimension, factor = UNITS[word]
        return Quantity(f"{_short(float(number) * factor)} {dimension}", dimension, bound, taken)
    if word in _MANY:
        return Quantity(_short(float(number) * _MANY[word]), "", bound, taken)
    return Quantity(number.lstrip("0") or "0" if "." not in number else number, "", bound, 1)


def _is_unit_in_front(text: str) -> bool:
    """Whether a text without spaces begins with a unit: `分钟有效`."""
    return text in UNITS and not text.isascii()


def _short(value: float) -> str:
    return f"{value:.10g}"
