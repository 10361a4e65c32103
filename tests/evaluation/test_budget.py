"""The budget holds before a request starts, also after a kill."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from evaluation.live.budget import Budget, OverBudgetError, Price, UnknownPriceError, read_prices

PRICE = Price(input=3, output=15, cache_read=0.3, cache_write=3.75, cache_write_1h=6)
BODY: dict[str, Any] = {"model": "m", "max_tokens": 10_000}  # at most 15 cents of output
RAW = b"x" * 10_000  # at most 6 cents of input


def never() -> int:
    raise AssertionError


def budget(folder: Path, dollars: float) -> Budget:
    return Budget(folder / "spending.jsonl", dollars, {"m": PRICE})


def test_the_cost_of_a_request_is_that_of_its_usage() -> None:
    usage = {
        "input_tokens": 1_000_000,
        "output_tokens": 100_000,
        "cache_read_input_tokens": 1_000_000,
        "cache_creation_input_tokens": 2_000_000,
        "cache_creation": {"ephemeral_1h_input_tokens": 1_000_000},
    }
    assert PRICE.of(usage) == pytest.approx(3 + 1.5 + 0.3 + 3.75 + 6)


def test_no_request_starts_that_could_exceed_the_budget(tmp_path: Path) -> None:
    spending = budget(tmp_path, 0.5)
    number = spending.start(RAW, BODY, never)  # reserves 21 cents
    spending.start(RAW, BODY, never)
    with pytest.raises(OverBudgetError, match=r"the budget of \$0\.50 stops the run"):
        spending.start(RAW, BODY, lambda: None)
    spending.end(number, "m", {"input_tokens": 2_000, "output_tokens": 100})
    assert spending.start(RAW, BODY, never) == 3


def test_a_request_that_never_ended_counts_as_the_most_that_it_can_cost(tmp_path: Path) -> None:
    before = budget(tmp_path, 1)
    before.start(RAW, BODY, never)
    before.end(before.start(RAW, BODY, never), "m", {"input_tokens": 1_000})
    again = budget(tmp_path, 1)
    assert again.spent == pytest.approx(0.21 + 0.003)
    assert again.start(RAW, BODY, never) == 3


def test_requests_at_once_keep_within_the_budget(tmp_path: Path) -> None:
    spending = budget(tmp_path, 1)

    def attempt(_: int) -> int:
        try:
            return spending.start(RAW, BODY, lambda: None)
        except OverBudgetError:
            return 0

    with ThreadPoolExecutor(8) as pool:
        started = [number for number in pool.map(attempt, range(40)) if number]
    assert len(started) == len(set(started)) == 4


def test_prices_are_read_from_a_file_and_another_form_is_named(tmp_path: Path) -> None:
    path = tmp_path / "prices.json"
    path.write_text(json.dumps({"m": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}))
    assert read_prices(path) == {"m": PRICE}
    path.write_text('{"m": {"input": 3}}')
    with pytest.raises(ValueError, match=r"prices\.json is no table of prices"):
        read_prices(path)
    with pytest.raises(UnknownPriceError, match="no price for the model other"):
        budget(tmp_path, 1).check("other")
