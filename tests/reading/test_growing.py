"""What is kept of sequences that grow."""

from __future__ import annotations

from vouching.reading.growing import GrowingCache


def test_only_what_a_sequence_adds_is_read() -> None:
    read: list[tuple[str, ...]] = []

    def extend(before: str | None, words: tuple[str, ...]) -> str:
        read.append(words)
        return (before or "") + "".join(words)

    kept = GrowingCache[str, str](extend, len)
    assert [kept.of(tuple(text)) for text in ("a", "abc", "b", "abcd", "abc", "abd")] == [
        *("a", "abc", "b", "abcd", "abc", "abd")
    ]
    # "abcd" goes on from "abc", the longest of its beginnings, and "abd" from "a"; the second "abc" is kept.
    assert read == [("a",), ("b", "c"), ("b",), ("d",), ("b", "d")]
