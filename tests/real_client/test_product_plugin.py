"""The plugin in the client: alone, beside `install`, moved, without a program, and what it costs to have both."""

from __future__ import annotations

import json

import pytest

from .installed import assert_healthy, rows
from .plugin import Plugin, program_on_path
from .product import BRIEF_MARK, Product
from .scenario import Scenario
from .transcript import attachments


def test_the_plugin_alone_keeps_and_gives_back(scenario: Scenario) -> None:
    product = Product(scenario)
    program_on_path(scenario)
    product.run("decision", "add", "Use SQLite for the archive", "--rationale", "one file")
    Plugin(scenario).install()
    scenario.prompt("hello")

    (request,) = scenario.api.of("main")
    assert len(request.find(BRIEF_MARK)) == 1
    assert request.find("Use SQLite for the archive")
    assert "hello" in [step.get("text") for step in product.export()]
    assert product.log() == ""
