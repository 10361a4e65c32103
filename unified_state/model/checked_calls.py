"""Checked calls: pydantic compares the arguments of the Python API with its annotations, before anything is done.

Invariant: a call with a wrong argument changes nothing, and its error names the argument, its value and the remedy.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, wraps
from types import FunctionType
from typing import Any, ParamSpec, TypeVar

from unified_state.errors import UsageError
from unified_state.lib.text import cut

P = ParamSpec("P")
R = TypeVar("R")

_SHOWN = 80  # characters of a value


def checked(function: Callable[P, R]) -> Callable[P, R]:
    """Return a function that raises UsageError for an argument of another type, or out of its bounds."""

    @wraps(function)
    def call(*values: P.args, **named: P.kwargs) -> R:
        from inspect import signature  # the command line's arguments have their types already
        from typing import get_args, get_type_hints

        given = signature(function).bind(*values, **named).arguments
        hints = get_type_hints(function, include_extras=True)
        if "changes" in given:  # of the type Unpack[Changes]
            given |= given.pop("changes")
            hints |= get_type_hints(get_args(hints["changes"])[0])
        for name, value in given.items():
            if name in hints:
                _check(name, value, hints[name])
        return function(*values, **named)

    return call


def _check(name: str, value: object, hint: Any) -> None:
    from pydantic import ValidationError

    try:
        _adapter(hint).validate_python(value, strict=True)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        inside = first["loc"] if isinstance(value, (dict, list, tuple)) else ()
        message = f"{'.'.join([name, *map(str, inside)])} is {cut(repr(first['input']), _SHOWN)}"
        raise UsageError(message, first["msg"].replace("Input", "it")) from None


@cache
def _adapter(hint: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(hint)


class CheckedCalls:
    """A base of the API: every public method is checked, but for callers within the product, which checked before."""

    _is_checked = True

    def __init_subclass__(cls) -> None:
        for name, method in tuple(vars(cls).items()):
            if isinstance(method, FunctionType) and not name.startswith("_"):
                setattr(cls, name, _checked_method(method))


def _checked_method(method: Callable[..., Any]) -> Callable[..., Any]:
    checking = checked(method)

    @wraps(method)
    def call(self: CheckedCalls, /, *values: Any, **named: Any) -> Any:
        return (checking if self._is_checked else method)(self, *values, **named)

    return call
