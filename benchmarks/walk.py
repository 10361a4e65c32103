"""An experiment that search does not have: a random walk with restart over the best hits and the edges between them.

Two hits have an edge where one follows the other within two steps, and for each word that only few of the hits have, a
file, a symbol or an error among them. docs/explanation/how-it-is-measured.md tells why it was left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations
from math import log
from typing import NamedTuple

from unified_state.lib.query import words_of

NODES = 60
_FEW = 10  # of the hits, that may have a word which makes an edge
_NEAR = 2
_SHARPNESS, _RESTART, _ROUNDS = 4, 0.5, 8
_WEIGHT = 0.6  # of the walk beside the score


class Node(NamedTuple):
    """A hit: its score, its session, its place in the archive, its text."""

    score: float
    session: int
    place: int
    text: str


def walked(nodes: Sequence[Node]) -> list[int]:
    """The indexes of the nodes, ordered anew by their scores and how often a walk that begins at good ones comes by."""
    edges = _edges(nodes)
    best = max((node.score for node in nodes), default=0.0) or 1.0
    scores = [max(0.0, node.score / best) for node in nodes]
    visits = _visits(edges, [score**_SHARPNESS for score in scores])
    most = max(visits, default=0.0) or 1.0
    totals = [score + _WEIGHT * visited / most for score, visited in zip(scores, visits, strict=True)]
    return sorted(range(len(nodes)), key=totals.__getitem__, reverse=True)


def _edges(nodes: Sequence[Node]) -> list[dict[int, float]]:
    """For each node the others that it has edges to, with their weights."""
    edges: list[dict[int, float]] = [{} for _ in nodes]
    having: dict[str, list[int]] = {}
    for index, node in enumerate(nodes):
        for word in set(words_of(node.text)):
            having.setdefault(word, []).append(index)
    for indexes in having.values():
        if len(indexes) <= _FEW and len(indexes) < len(nodes):  # what all have connects none
            weight = log(len(nodes) / len(indexes)) / len(indexes)
            for one, other in permutations(indexes, 2):
                edges[one][other] = edges[one].get(other, 0.0) + weight
    for one, other in permutations(range(len(nodes)), 2):
        distance = abs(nodes[one].place - nodes[other].place)
        if 0 < distance <= _NEAR and nodes[one].session == nodes[other].session:
            edges[one][other] = edges[one].get(other, 0.0) + 1 / distance
    return edges


def _visits(edges: Sequence[dict[int, float]], seeds: Sequence[float]) -> list[float]:
    whole = sum(seeds) or 1.0
    begin = [seed / whole for seed in seeds]
    visits = list(begin)
    for _ in range(_ROUNDS):
        following = [_RESTART * seed for seed in begin]
        for index, share in enumerate(visits):
            total = sum(edges[index].values())
            for other, weight in edges[index].items():
                following[other] += (1 - _RESTART) * share * weight / total
        visits = following
    return visits
