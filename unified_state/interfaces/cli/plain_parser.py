"""Plain command lines are parsed without argparse, which takes longer to load than most commands to run.

A command declares its arguments once, to this parser or to argparse's. This one knows the usual declarations, and takes
a command line only if argparse would take it, to the same effect. For any other it raises NotPlainError, and argparse
parses the line again: it has the help, the messages and the rare forms.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import Any

SUPPRESS = "==SUPPRESS=="  # argparse's own word: no value as a default, no line as a help
_MANY = 1_000_000
_COUNTS = {None: (1, 1), "?": (0, 1), "*": (0, _MANY), "+": (1, _MANY)}


class NotPlainError(Exception):
    """A command line that argparse has to parse, or to refuse."""


class Values:
    """The values of a command line, by the names of its arguments."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.__dict__.update(values)

    if TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any: ...


class _Argument:
    """One declared argument, and the group of those that exclude it, or None."""

    def __init__(self, names: Sequence[str], group: _Group | None, options: Mapping[str, Any]) -> None:
        long = next((name for name in names if name.startswith("--")), names[0])
        self.name = options.get("dest") or long.lstrip("-").replace("-", "_")
        self.group = group
        self.action = options.get("action", "store")
        self.counts = options.get("nargs")
        self.default = options.get("default", False if self.action == "store_true" else None)
        self.convert = options.get("type")
        self.choices = options.get("choices")
        self.is_required = options.get("required", False)
        if isinstance(self.default, str) and self.convert is not None:
            raise NotPlainError  # argparse converts such a default

    def value(self, word: str) -> Any:
        """Return a word as the argument has it."""
        try:
            value = word if self.convert is None else self.convert(word)
        except Exception as error:  # argparse tells what is wrong with it
            raise NotPlainError from error
        if self.choices is not None and value not in self.choices:
            raise NotPlainError
        return value


class _Group:
    """Arguments of a parser that exclude each other."""

    def __init__(self, parser: PlainParser, *, required: bool) -> None:
        self._parser = parser
        self.is_required = required

    def add_argument(self, *names: str, **options: Any) -> None:
        """Declare an argument of the group, as for argparse."""
        self._parser.declare(_Argument(names, self, options), names)


class PlainParser:
    """The arguments of a command or of a verb."""

    def __init__(self) -> None:
        self._options: dict[str, _Argument] = {}
        self._positionals: list[_Argument] = []
        self._groups: list[_Group] = []
        self._defaults: dict[str, Any] = {}

    def add_argument(self, *names: str, **options: Any) -> None:
        """Declare an argument, as for argparse."""
        self.declare(_Argument(names, None, options), names)

    def declare(self, argument: _Argument, names: Sequence[str]) -> None:
        """Take an argument with all of its names."""
        if names[0].startswith("-"):
            self._options.update(dict.fromkeys(names, argument))
        else:
            self._positionals.append(argument)

    def add_mutually_exclusive_group(self, *, required: bool = False) -> _Group:
        """Return a group for arguments that exclude each other."""
        group = _Group(self, required=required)
        self._groups.append(group)
        return group

    def set_defaults(self, **values: Any) -> None:
        """Set values that no argument has."""
        self._defaults.update(values)

    def parse(self, words: Sequence[str], verbs: Sequence[str] = ()) -> tuple[dict[str, Any], list[str]]:
        """Return the values, and what is left for a verb: the first of these words, and all behind it."""
        values = self._default_values()
        given: list[_Argument] = []
        run: list[str] = []
        is_over, left = False, list(words)
        while left:
            word = left.pop(0)
            if word.startswith("-") and word != "-":
                is_over = bool(run)
                given.append(self._take_option(word, left, values))
            elif verbs:
                left.insert(0, word)
                break
            elif is_over:
                raise NotPlainError  # words on both sides of an option
            else:
                run.append(word)
        self._share(run, values, given)
        self._check(given)
        return values, left

    def _default_values(self) -> dict[str, Any]:
        declared = [*self._options.values(), *self._positionals]
        values = {one.name: one.default for one in declared if one.default != SUPPRESS}
        return {**values, **self._defaults}

    def _take_option(self, word: str, left: list[str], values: dict[str, Any]) -> _Argument:
        name, has_value, value = word.partition("=")
        option = self._options.get(name)
        if option is None or option.counts is not None:
            raise NotPlainError
        if option.action == "store_true" and not has_value:
            values[option.name] = True
            return option
        if not has_value:
            if not left or (left[0].startswith("-") and left[0] != "-"):
                raise NotPlainError
            value = left.pop(0)
        if option.action == "store":
            values[option.name] = option.value(value)
        elif option.action == "append":
            values[option.name] = [*(values.get(option.name) or ()), option.value(value)]
        else:
            raise NotPlainError
        return option

    def _share(self, run: list[str], values: dict[str, Any], given: list[_Argument]) -> None:
        """Share words among the arguments that have a place: each takes as many as the ones behind it leave."""
        begin = 0
        for number, one in enumerate(self._positionals):
            least, most = _COUNTS.get(one.counts) or (_MANY, _MANY)
            behind = sum((_COUNTS.get(other.counts) or (_MANY, 0))[0] for other in self._positionals[number + 1 :])
            taken = run[begin : begin + min(most, max(0, len(run) - begin - behind))]
            if len(taken) < least:
                raise NotPlainError
            begin += len(taken)
            if taken:
                given.append(one)
                values[one.name] = list(map(one.value, taken)) if one.counts in {"*", "+"} else one.value(taken[0])
        if begin < len(run):
            raise NotPlainError

    def _check(self, given: list[_Argument]) -> None:
        missing = [one for one in self._options.values() if one.is_required and one not in given]
        for group in self._groups:
            members = {id(one) for one in given if one.group is group}
            if len(members) > 1 or (group.is_required and not members):
                raise NotPlainError
        if missing:
            raise NotPlainError


def commands_of(module: str) -> Mapping[str, Any]:
    """Return the commands of a module of `commands`, by their words."""
    path = f"unified_state.interfaces.cli.commands.{module}"
    return __import__(path, fromlist=["COMMANDS"]).COMMANDS  # type: ignore[no-any-return]  # importlib is slow to load


def parse_plain(commands: Mapping[str, Any], name: str, words: Sequence[str]) -> Values:
    """Return the values of a command line. `commands` are those of the module that has the command `name`, and `words`
    what follows the name. Raises NotPlainError.
    """
    verbs = [verb for verb in commands if verb.startswith(f"{name} ")]
    parser = PlainParser()
    if name in commands:
        commands[name].fill(parser)
    values, left = parser.parse(words, verbs)
    values["command"] = name
    if not verbs:
        return Values(values)
    values["verb"] = left[0] if left else None
    if not left:
        if name not in commands:
            raise NotPlainError
        return Values(values)
    verb = commands.get(f"{name} {left[0]}")
    if verb is None:
        raise NotPlainError
    parser = PlainParser()
    verb.fill(parser)
    values.update(parser.parse(left[1:])[0])
    return Values(values)
