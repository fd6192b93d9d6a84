"""Replies of decision models damaged at random: whatever becomes a score is a probability that the reply has.

By hand, for more replies:  python -m tests.models.test_decision_replies 100000
"""

from __future__ import annotations

import copy
import json
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any, cast

import pytest

from tests.models.decision_server import REPLIES
from vouching.judging.ask import ReplyError
from vouching.methods.discriminative.published.decision import read_answers
from vouching.models.decision_shapes import SHAPES, Json, ShapeName

JUNK: tuple[Any, ...] = (
    None,
    True,
    False,
    -1,
    2,
    1.0000001,
    -1e-9,
    90,
    "0.9",
    "",
    [],
    {},
    [0.5],
    {"p": 0.5},
    float("nan"),
    float("inf"),
    10**400,
    -0.0,
    0,
    1,
    0.5,
    "noul",
    "choice",
    "score",
    "refusal",
    "predicate",
    "c1",
    "c2",
    "supported",
)
CRITERIA = {"supported": "s", "contradicted": "c", "not_found": "n"}
ASKED: dict[str, Any] = {
    "state": {"sources": [{"id": "source-1", "text": "The bridge opened in 1973."}]},
    "questions": {
        "c1": {"type": "noul", "instructions": "a", "criteria": {"true": "t", "false": "f"}},
        "c2": {"type": "choice", "instructions": "b", "criteria": CRITERIA},
    },
}


def inside(value: Any) -> Iterator[tuple[Any, Any]]:
    """Each place inside a value: what holds it, and its key."""
    keys: list[Any] = []
    if isinstance(value, dict):
        keys = [*cast("dict[str, Any]", value)]
    elif isinstance(value, list):
        keys = [*range(len(cast("list[Any]", value)))]
    for key in keys:
        yield value, key
        yield from inside(value[key])


def damaged(reply: Any, rng: random.Random) -> Any:
    """The reply with one to three values replaced, deleted, moved or doubled."""
    found: Any = copy.deepcopy(reply)
    for _ in range(rng.randint(1, 3)):
        if not (places := [*inside(found)]):
            return found
        holder, key = rng.choice(places)
        kind = rng.random()
        if kind < 0.6:
            holder[key] = copy.deepcopy(rng.choice(JUNK))
        elif kind < 0.75:
            del holder[key]
        elif type(key) is int:
            holder.append(copy.deepcopy(holder[key]))
        else:
            holder[rng.choice(["c1", "c9", "noul", "probability", "type"])] = holder.pop(key)
    return found


def stated(reply: Any) -> set[float]:
    """Every number of a reply that is a probability, by another reading than the judge's."""
    numbers = [holder[key] for holder, key in inside(reply)]
    return {float(one) for one in numbers if type(one) in (int, float) and one >= 0 and one <= 1}


def check(replies: int, seed: int = 0) -> Counter[str]:
    """Damage and read so many replies; what became of the questions."""
    rng, counts = random.Random(seed), Counter[str]()
    names: list[ShapeName] = [*SHAPES]
    for number in range(replies):
        shape = names[number % len(names)]
        body = SHAPES[shape].ask("m", ASKED)
        reply = damaged(REPLIES[shape](body, {'"a"': 0.9}), rng)
        text = json.dumps(reply)
        if rng.random() < 0.1:  # also damaged as a text
            at = rng.randrange(len(text))
            text = text[:at] + rng.choice(["", "0", "9", "-", '"', "e9", "null", "}"]) + text[at + 1 :]
        try:
            sent: Any = json.loads(text)
        except ValueError:
            counts["not JSON"] += 1
            continue
        if not isinstance(sent, dict):
            continue
        try:
            found = read_answers(ASKED, json.dumps(SHAPES[shape].read(cast("Json", sent), ASKED)))
        except (ReplyError, ValueError):
            counts["unusable"] += 1
            continue
        for one in found:
            options = getattr(one, "options", None)
            if options is None:
                counts["without a score"] += 1
                continue
            counts["scored"] += 1
            score = options.get("true", options.get("supported"))
            assert type(score) is float, text
            assert 0.0 <= score <= 1.0, text
            assert score in stated(sent), text
            assert abs(sum(options.values()) - 1) <= 0.02 + 1e-9, text
    return counts


@pytest.mark.parametrize("seed", range(2))
def test_only_a_probability_of_the_reply_becomes_a_score(seed: int) -> None:
    counts = check(1_200, seed)
    assert counts["scored"] > 200
    assert counts["without a score"] > 200


if __name__ == "__main__":
    sys.stdout.write(f"{dict(check(int(sys.argv[1])))}\n")
