"""What was made of recent sequences, extended for a sequence that begins as one of them.

In a conversation the sources of each answer are those of the one before and a few more, so that only these are read.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from threading import Lock
from typing import Generic, TypeVar

_Item = TypeVar("_Item")
_Made = TypeVar("_Made")


class GrowingCache(Generic[_Item, _Made]):
    """Keeps what was made of the last sequences; thread-safe.

    Args:
        extend: makes it of what was made of the beginning of a sequence, None if that is not kept, and of the rest.
            Where a sequence is divided must make no difference.
        size: characters of an item.
        limit: sequences that are kept.
        max_characters: the same in characters; the newest is kept whatever its size.

    >>> cache = GrowingCache[str, str](lambda before, words: (before or "") + "".join(words), len)
    >>> cache.of(("a",)), cache.of(("a", "b"))
    ('a', 'ab')
    """

    def __init__(
        self,
        extend: Callable[[_Made | None, tuple[_Item, ...]], _Made],
        size: Callable[[_Item], int],
        limit: int = 8,
        max_characters: int = 20_000_000,
    ) -> None:
        self._extend, self._size = extend, size
        self.limit, self.max_characters = limit, max_characters
        self._kept: OrderedDict[tuple[_Item, ...], _Made] = OrderedDict()
        self._lock = Lock()

    def of(self, items: tuple[_Item, ...]) -> _Made:
        """What is made of ``items``."""
        with self._lock:
            found = self._kept.pop(items, None)
            begun = (known for known in self._kept if found is None and items[: len(known)] == known)
            start = max(begun, key=len, default=())
            before = self._kept.get(start)
        found = self._extend(before, items[len(start) :]) if found is None else found
        with self._lock:
            self._kept[items] = found
            while len(self._kept) > 1 and (len(self._kept) > self.limit or self._characters() > self.max_characters):
                self._kept.popitem(last=False)
        return found

    def _characters(self) -> int:
        return sum(self._size(item) for items in self._kept for item in items)
