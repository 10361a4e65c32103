"""What tests need of a host, whichever it is."""

from __future__ import annotations

from abc import ABC, abstractmethod

from tests.sandboxed.scripted_api import Json

from .model_api import Say


class Driver(ABC):
    """A host in a world, which is asked one prompt a process."""

    @abstractmethod
    def prompt(self, prompt: str, *, goes_on: bool = False) -> str:
        """What it prints for one prompt, in a new session or in the one before."""

    @abstractmethod
    def runs(self, command: str) -> Say:
        """The model's call of its tool for shell commands."""

    @abstractmethod
    def recorded(self, command: str) -> Json:
        """The input of that call in the archive."""

    def archived(self, prompt: str) -> str:
        """A prompt in the archive."""
        return prompt
