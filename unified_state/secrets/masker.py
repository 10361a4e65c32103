"""Masking with the user's own key. The same secret always gets the same tag, which cannot be computed without the
key.
"""

from __future__ import annotations

import os

from unified_state.errors import StorageError
from unified_state.lib.files import create_once, write_atomically
from unified_state.lib.json_text import dump_json, parse_json
from unified_state.lib.read_files import SMALL_FILE, read_regular
from unified_state.model.step import NOTICE, PROMPT, TOOL_CALL, Step
from unified_state.project.place import KEY_FILE

_KEY_BYTES = 32
_UUID = 36  # characters
_TAG_DIGITS = 8


class Masker:
    """Masks texts and JSON values. The key is in the data folder and is created for the first secret."""

    def __init__(self, data_dir: str, *, enabled: bool = True) -> None:
        self._path = os.path.join(data_dir, KEY_FILE)
        self._enabled = enabled
        self._key = b""

    def text(self, text: str) -> str:
        """Return the text with its secrets masked; the same object if it has none."""
        if not self._enabled:
            return text
        from unified_state.secrets.rules.mask import mask_text  # not where a hook writes nothing

        return mask_text(text, self.tag)

    def typed(self, text: str) -> str:
        """Return a text that the user typed, without secrets and parts marked as private."""
        from unified_state.secrets.rules.mask import hide_private

        return self.text(hide_private(text))

    def id(self, text: str | None) -> str | None:
        """Return a short text with its secrets masked. Ids that clients make have none, and are not searched."""
        if text is None or (len(text) == _UUID and text[8] == text[13] == "-"):
            return text
        return text if text.startswith("toolu_01") and text[8:].isalnum() else self.text(text)

    def json(self, text: str) -> str:
        """Return a JSON text with the secrets in its strings masked; the same object if it has none. A damaged one is
        masked as text.
        """
        from unified_state.secrets.rules.mask import mask_value

        if not self._enabled:
            return text
        try:
            value = parse_json(text)
        except (ValueError, RecursionError):  # damaged
            return self.text(text)
        masked = mask_value(value, self.tag)
        return text if masked == value else dump_json(masked)

    def step(self, step: Step) -> Step:
        """Return the step with secrets masked in its text, its ids and the name of its tool, and without parts marked
        as private.
        """
        if step.kind == TOOL_CALL:
            text = self.json(step.text)
        else:  # a notice may quote the user: a slash command's arguments, also inside its text
            text = self.typed(step.text) if step.kind in {PROMPT, NOTICE} else self.text(step.text)
        tool, uuid, use = self.id(step.tool), self.id(step.uuid), self.id(step.tool_use_id)
        if text is step.text and tool == step.tool and uuid is step.uuid and use is step.tool_use_id:
            return step
        return step.replace(text=text, tool=tool, uuid=uuid or "", tool_use_id=use)

    def tag(self, secret: str) -> str:
        """Return the keyed HMAC tag that replaces a secret. Raises StorageError if the key cannot be stored."""
        import hmac  # 5 ms, only where a secret was found

        return hmac.digest(self._load_key(), secret.encode("utf-8", "surrogatepass"), "sha256").hex()[:_TAG_DIGITS]

    def ensure_key(self) -> None:
        """Create the key if there is none. Raises StorageError."""
        self._load_key()

    def _load_key(self) -> bytes:
        if not self._key:
            try:
                self._key = self._read_key() or self._create_key()
            except OSError as error:
                message = f"the masking key {self._path} cannot be kept: {error.strerror or error}"
                raise StorageError(message, "make the data folder writable") from error
        return self._key

    def _read_key(self) -> bytes:
        """Return the key; b"" if there is none, or if a full disk left an empty file."""
        try:
            key = read_regular(self._path, SMALL_FILE)[:_KEY_BYTES]
        except FileNotFoundError:
            return b""
        return key if len(key) == _KEY_BYTES else b""

    def _create_key(self) -> bytes:
        os.makedirs(os.path.dirname(self._path), mode=0o700, exist_ok=True)
        if not create_once(self._path, os.urandom(_KEY_BYTES)) and not self._read_key():
            write_atomically(self._path, os.urandom(_KEY_BYTES))
        return self._read_key()
