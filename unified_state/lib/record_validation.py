"""How pydantic sees a record: the annotations of the class, checked strictly, by their names on disk.

Only loaded where something is validated or a schema is written; the hooks never load it.
"""

import typing
from collections.abc import Callable
from typing import Any

from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema


def record_schema(cls: type[Any], handler: GetCoreSchemaHandler, disk_value: Callable[[Any], Any]) -> CoreSchema:
    """The schema of a record class: an object with the camelCase names, unknown fields kept in `unknown` where the
    class has it. `disk_value` gives what a record looks like on disk.
    """
    # The record modules import names of typing only for type checkers, so they are handed in here.
    hints = typing.get_type_hints(cls, localns=vars(typing), include_extras=True)
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
