"""Short JSON Schemas for the list of tools, which costs every conversation tokens.

A short schema names each argument or field with its type, its choices and its description. It accepts every value that
the whole schema accepts, except a null for an argument that can be left out; the server takes that too.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    Schema = dict[str, Any]

_TOLD = ("type", "enum", "description", "minimum", "maximum", "default")  # of an argument


def brief_arguments(schema: Schema) -> Schema:
    """Return the schema of a tool's arguments. No other argument is allowed."""
    properties = {name: _argument(shape) for name, shape in schema["properties"].items()}
    return {**_object(schema, properties), "additionalProperties": False}


def _argument(shape: Schema) -> Schema:
    """Return the shape of one argument. An optional one is left out instead of given as null."""
    chosen: Schema = next((choice for choice in shape.get("anyOf", ()) if choice["type"] != "null"), {})
    whole = {**chosen, **shape}
    told = {name: whole[name] for name in _TOLD if name in whole}
    if told.get("default", "") is None:
        del told["default"]
    return told


def brief_answer(schema: Schema) -> Schema:
    """Return the schema of a tool's answer: the fields that it always has with their types, and no more of objects and
    lists.
    """
    definitions = schema.get("$defs", {})
    always = schema.get("required", ())
    properties = {name: _field(shape, definitions) for name, shape in schema["properties"].items() if name in always}
    return _object(schema, properties)


def _object(schema: Schema, properties: Schema) -> Schema:
    required = {"required": schema["required"]} if schema.get("required") else {}
    return {"type": "object", "properties": properties, **required}


def _field(shape: Schema, definitions: Schema) -> Schema:
    types = list(dict.fromkeys(_types(shape, definitions)))
    return {} if not types else {"type": types[0] if len(types) == 1 else types}


def _types(shape: Schema, definitions: Schema) -> list[str]:
    """Return the JSON types of a shape; none where every value is allowed."""
    if "$ref" in shape:
        return _types(definitions[shape["$ref"].rpartition("/")[2]], definitions)
    if "anyOf" in shape:
        parts = [_types(choice, definitions) for choice in shape["anyOf"]]
        return [] if [] in parts else [kind for part in parts for kind in part]
    return [shape["type"]] if "type" in shape else []
