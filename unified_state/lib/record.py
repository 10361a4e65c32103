"""The base class of all records: immutable values with named, typed fields.

A dataclass is compiled when its module is imported, which takes half a millisecond: with the 76 classes that a start
loads, it would take twice as long. So the fields are read from the annotations here, in a few lines. `pydantic`
validates the same classes and derives their JSON Schemas from the same annotations (`__get_pydantic_core_schema__`), so
no shape is written twice.

A field is camelCase on disk (`open_questions` is `openQuestions`) and snake_case in Python. Fields of a newer version
that this version does not know are stored in `unknown` and written back.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Self, dataclass_transform, get_type_hints


def camel_case(name: str) -> str:
    """Return the name of a field on disk: `recent_commits` is `recentCommits`."""
    first, *rest = name.split("_")
    return first + "".join(map(str.capitalize, rest))


class Limits:
    """What values a field has, as pydantic says it: `Annotated[float, Limits(ge=0)]`. A format is JSON Schema's."""

    def __init__(self, format: str = "", **limits: Any) -> None:  # noqa: A002  # its name there
        self._format = {"format": format} if format else {}
        self._limits = limits

    def __get_pydantic_core_schema__(self, source: object, handler: Any) -> Any:
        return {**handler(source), **self._limits}

    def __get_pydantic_json_schema__(self, schema: object, handler: Any) -> Any:
        return {**handler(schema), **self._format}


_DAY, _CLOCK = "[0-9]{4}-[0-9]{2}-[0-9]{2}", "[0-9]{2}:[0-9]{2}:[0-9]{2}([.,][0-9]+)?"
_ZONE = "[Zz]|[+-][0-9]{2}(:?[0-9]{2})?"
Time = Annotated[str, Limits("date-time", pattern=f"^{_DAY}[Tt ]{_CLOCK}({_ZONE})?$")]


@dataclass_transform(frozen_default=True)
class Record:
    """The base of all records: fields in the order of their annotations, defaults as class attributes, immutable."""

    names: ClassVar[tuple[str, ...]] = ()
    disk_names: ClassVar[dict[str, str]] = {}
    required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        annotations = cls.__dict__.get("__annotations__", {})  # noqa: RUF063  # its own, not those of a base
        own = tuple(name for name in annotations if name not in cls.names)
        cls.names = cls.names + own
        cls.disk_names = {**cls.disk_names, **{name: camel_case(name) for name in own}}
        cls.required = frozenset(name for name in cls.names if not hasattr(cls, name))

    def __init__(self, *values: Any, **named: Any) -> None:
        cls = type(self)
        fields = {**dict(zip(cls.names, values, strict=False)), **named} if values else named
        if len(fields) != len(values) + len(named) or not fields.keys() <= cls.disk_names.keys():
            known = ", ".join(cls.names)
            message = (
                f"{cls.__name__} takes each of these fields once: {known}; got {len(values)} values and {sorted(named)}"
            )
            raise TypeError(message)
        if not fields.keys() >= cls.required:
            message = f"{cls.__name__} needs the field {min(cls.required - fields.keys(), key=cls.names.index)!r}"
            raise TypeError(message)
        self.__dict__.update(fields)

    def __setattr__(self, name: str, _value: object) -> None:
        message = f"{type(self).__name__}.{name} cannot be set: records do not change; use replace()"
        raise AttributeError(message)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.as_dict() == other.as_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.names)
        return f"{type(self).__name__}({shown})"

    def as_dict(self) -> dict[str, Any]:
        """Return the fields by their Python names, one level deep."""
        return {name: getattr(self, name) for name in self.names}

    def model_dump(self) -> dict[str, Any]:
        """Return the fields by their Python names, at every level, as values that `json.dumps` takes."""
        dumped: dict[str, Any] = _json_value(self, on_disk=False)
        return dumped

    @classmethod
    def from_disk(cls, fields: Mapping[str, Any]) -> Self:
        """Return the record of a JSON object that we wrote ourselves, without validation.

        Objects that others may have written are validated by pydantic.
        """
        python_names = {disk: name for name, disk in cls.disk_names.items()}
        known = {python_names[disk]: value for disk, value in fields.items() if disk in python_names}
        known = {name: tuple(value) if isinstance(value, list) else value for name, value in known.items()}
        unknown = {disk: value for disk, value in fields.items() if disk not in python_names}
        return cls(**known, unknown=unknown) if unknown and "unknown" in cls.names else cls(**known)

    def replace(self, **changes: Any) -> Self:
        """Return a copy of the record with some fields changed."""
        return type(self)(**{**self.as_dict(), **changes})

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: object, handler: Any) -> Any:
        return _pydantic_schema(cls, handler)


def disk_value(value: Any) -> Any:
    """Return the value as it is in JSON on disk.

    Records become objects with camelCase names, and fields that are None are omitted.
    """
    return _json_value(value, on_disk=True)


def _json_value(value: Any, *, on_disk: bool) -> Any:
    """Return the value with records as objects and tuples as lists."""
    if isinstance(value, Record):
        fields = value.as_dict()
        unknown = fields.pop("unknown", None) or {}
        shown = {name: _json_value(field, on_disk=on_disk) for name, field in fields.items()}
        if on_disk:
            shown = {value.disk_names[name]: field for name, field in shown.items() if field is not None}
        return {**shown, **unknown}
    if isinstance(value, (list, tuple)):
        return [_json_value(entry, on_disk=on_disk) for entry in value]
    if isinstance(value, dict):
        return {name: _json_value(entry, on_disk=on_disk) for name, entry in value.items()}
    return value


def _pydantic_schema(cls: type[Record], handler: Any) -> Any:
    """Return pydantic's schema of a record class: an object with camelCase names.

    Unknown fields are stored in `unknown` if the class has it.
    """
    from pydantic_core import core_schema  # only where something is validated or a schema is written; hooks never do

    hints = get_type_hints(cls, include_extras=True)
    keeps_unknown = "unknown" in cls.names
    fields = {
        name: core_schema.typed_dict_field(
            handler.generate_schema(hints[name]),
            required=not hasattr(cls, name),
            validation_alias=cls.disk_names[name],
            serialization_alias=cls.disk_names[name],
        )
        for name in cls.names
        if name != "unknown"
    }

    def build(values: dict[str, Any]) -> Any:
        known = {name: value for name, value in values.items() if name in fields}
        unknown = {name: value for name, value in values.items() if name not in fields}
        return cls(**known, unknown=unknown) if keeps_unknown else cls(**known)

    shape = core_schema.typed_dict_schema(
        fields,
        cls_name=cls.__name__,
        extra_behavior="allow" if keeps_unknown else "forbid",
        config=core_schema.CoreConfig(title=cls.__name__, strict=True),
        ref=f"{cls.__module__}.{cls.__name__}",
    )
    return core_schema.no_info_after_validator_function(
        build, shape, serialization=core_schema.plain_serializer_function_ser_schema(disk_value)
    )
