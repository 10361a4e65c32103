"""A budget in dollars that holds before a request starts.

Invariant: what was spent, plus the most that started requests can cost, never exceeds the budget. Every start and end
is a line of `spending.jsonl`, durable before the request goes out. A request that started and never ended counts as the
most that it could have cost, so a killed run is paid for too.
"""

from __future__ import annotations

import json
import os
import threading
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

Json = dict[str, Any]
MILLION = 1_000_000
_COUNT_MARGIN = 1.05  # the API calls its own count an estimate


class OverBudgetError(Exception):
    """The next request could exceed the budget."""


class UnknownPriceError(Exception):
    """No price is known for a model."""


@dataclass(frozen=True)
class Price:
    """Dollars a million tokens."""

    input: float
    output: float
    cache_read: float
    cache_write: float
    cache_write_1h: float

    @property
    def dearest_input(self) -> float:
        """The most that a token of a request can cost."""
        return max(self.input, self.cache_read, self.cache_write, self.cache_write_1h)

    def of(self, usage: Json) -> float:
        """What a request cost by the usage that the API reported."""
        written = usage.get("cache_creation_input_tokens") or 0
        for_an_hour = (usage.get("cache_creation") or {}).get("ephemeral_1h_input_tokens") or 0
        return (
            (usage.get("input_tokens") or 0) * self.input
            + (usage.get("output_tokens") or 0) * self.output
            + (usage.get("cache_read_input_tokens") or 0) * self.cache_read
            + (written - for_an_hour) * self.cache_write
            + for_an_hour * self.cache_write_1h
        ) / MILLION


def read_prices(path: Path) -> dict[str, Price]:
    """Return the prices by model: {"MODEL": {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75}}.

    `cache_write_1h` is twice the input's price unless given. Raise ValueError for another form.
    """
    try:
        given = json.loads(path.read_text(encoding="utf-8"))
        return {model: Price(**{"cache_write_1h": 2 * price["input"], **price}) for model, price in given.items()}
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        message = f"{path} is no table of prices ({error!r}); docs/explanation/does-it-help.md shows one"
        raise ValueError(message) from error


class Budget:
    """The spending in a folder of results, within `dollars`."""

    def __init__(self, path: Path, dollars: float, prices: dict[str, Price]) -> None:
        self.dollars, self._prices, self._path = dollars, prices, path
        self._lock = threading.Lock()
        self._open: dict[int, float] = {}
        self.spent = 0.0
        self._number = 0
        for line in path.read_text(encoding="utf-8").splitlines() if path.exists() else ():
            self._replay(json.loads(line))
        self.spent += sum(self._open.values())
        self._open.clear()

    def _replay(self, entry: Json) -> None:
        self._number = max(self._number, entry["number"])
        if "most" in entry:
            self._open[entry["number"]] = entry["most"]
        else:
            self._open.pop(entry["number"], None)
            self.spent += entry["dollars"]

    def start(self, raw: bytes, body: Json, count: Callable[[], int | None]) -> int:
        """Reserve the most that a request can cost; its number. `count` asks the API how many tokens it has, and is
        called only where a token a byte would exceed the budget. Raise OverBudgetError or UnknownPriceError.
        """
        price = self._price(str(body.get("model")))
        written = int(body.get("max_tokens") or 0) * price.output / MILLION
        most = len(raw) * price.dearest_input / MILLION + written
        if most > self.left() and (counted := count()) is not None:
            most = counted * _COUNT_MARGIN * price.dearest_input / MILLION + written
        with self._lock:
            if most > self._left():
                message = (
                    f"the budget of ${self.dollars:.2f} stops the run: ${self.spent:.4f} are spent, and the next"
                    f" request could cost ${most:.4f}"
                )
                raise OverBudgetError(message)
            self._number += 1
            self._write({"number": self._number, "model": body.get("model"), "most": most})
            self._open[self._number] = most
            return self._number

    def end(self, number: int, model: str, usage: Json | None) -> float:
        """Settle a request by its usage; without one it cost the most. Return its dollars."""
        with self._lock:
            most = self._open.pop(number)
            dollars = most if usage is None else self._price(model).of(usage)
            self._write({"number": number, "dollars": dollars, "usage": usage})
            self.spent += dollars
            return dollars

    def left(self) -> float:
        """The dollars that no request has spent or reserved."""
        with self._lock:
            return self._left()

    def _left(self) -> float:
        return self.dollars - self.spent - sum(self._open.values())

    def _price(self, model: str) -> Price:
        if model not in self._prices:
            message = f"no price for the model {model}; the table of prices has {', '.join(self._prices) or 'none'}"
            raise UnknownPriceError(message)
        return self._prices[model]

    def check(self, model: str) -> None:
        """Raise UnknownPriceError if a model has no price."""
        self._price(model)

    def _write(self, entry: Json) -> None:
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")
            file.flush()
            os.fsync(file.fileno())
