"""All answers of a kind as an automaton over their bytes, so that a writer can be kept to them.

A trade has more offers than can be listed ("offer 3 wheat and 2 ore for 1 wood"). They are given
as pieces instead: each state of a `Spelling` has pieces of text, each with the state after it. A
`Speller` reads them byte by byte, and says after each beginning what may follow. States are
expanded when they are first come to.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence

State = Hashable
Pieces = Iterable[tuple[str, State]]
DONE = None  # the state after a whole answer


class Spelling:
    """Answers as pieces.

    Args:
        pieces: the pieces that may be written in a state, none of them empty, each with the state
            after it; `DONE` if the answer may end there, and then nothing follows it.
        start: the first state.
    """

    def __init__(self, pieces: Callable[[State], Pieces], start: State = ""):
        self.pieces, self.start = pieces, start

    def after(self, beginning: str) -> Spelling:
        """The same answers with a beginning before each."""
        first = object()

        def pieces(state: State) -> Pieces:
            return [(beginning, self.start)] if state is first else self.pieces(state)

        return Spelling(pieces, first)


def listed(texts: Iterable[str]) -> Spelling:
    """Answers one by one."""
    found = [(text, DONE) for text in texts]
    return Spelling(lambda _: found)


class _Node:
    """A place within the pieces of a state: what may follow, and the states that begin here."""

    __slots__ = ("edges", "states")

    def __init__(self) -> None:
        self.edges: dict[int, _Node] = {}
        self.states: list[State] = []


class Place:
    """A beginning of answers.

    Attributes:
        whole: whether it is an answer.
    """

    __slots__ = ("_after", "_nodes", "_speller", "whole")

    def __init__(self, speller: Speller, nodes: Sequence[_Node], whole: bool):
        self._speller, self._nodes, self.whole = speller, nodes, whole
        self._after: dict[int, Place] | None = None

    @property
    def after(self) -> Mapping[int, Place]:
        """By the next byte, the beginnings that are longer by it."""
        if self._after is None:
            ends: dict[int, list[_Node]] = {}
            for node in self._nodes:
                for byte, end in node.edges.items():
                    ends.setdefault(byte, []).append(end)
            self._after = {byte: self._speller._place(nodes) for byte, nodes in ends.items()}
        return self._after

    def finish(self) -> bytes:
        """The shortest way to a whole answer (ties: the lowest bytes)."""
        seen, waiting = {id(self)}, deque([(self, b"")])
        while waiting:
            place, written = waiting.popleft()
            if place.whole:
                return written
            for byte, later in sorted(place.after.items()):
                if id(later) not in seen:
                    seen.add(id(later))
                    waiting.append((later, written + bytes([byte])))
        raise ValueError("a spelling without an answer")


class Speller:
    """Reads a spelling byte by byte.

    Attributes:
        start: the beginning of all answers.
    """

    def __init__(self, spelling: Spelling):
        self._spelling = spelling
        self._roots: dict[State, _Node] = {}
        self._places: dict[frozenset[int], Place] = {}
        first = _Node()
        first.states.append(spelling.start)
        self._kept = first
        self.start = self._place([first])

    def _place(self, nodes: Sequence[_Node]) -> Place:
        """The place of some nodes, and of all that begin where they end: the same for the same."""
        found: dict[int, _Node] = {}
        waiting, whole = list(nodes), False
        while waiting:
            node = waiting.pop()
            if id(node) in found:
                continue
            found[id(node)] = node
            for state in node.states:
                if state is DONE:
                    whole = True
                else:
                    waiting.append(self._root(state))
        key = frozenset(found)
        if key not in self._places:
            self._places[key] = Place(self, list(found.values()), whole)
        return self._places[key]

    def _root(self, state: State) -> _Node:
        root = self._roots.get(state)
        if root is None:
            root = self._roots[state] = _Node()
            for text, later in self._spelling.pieces(state):
                node = root
                for byte in text.encode():
                    node = node.edges.setdefault(byte, _Node())
                node.states.append(later)
        return root
