"""A router finds who is good at what by the kind of text alone, and asks the best where there is nothing to find."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from recipes.evolve.contest import ORACLE, contest
from recipes.evolve.route import (
    FEATURES,
    RoutedVerifier,
    Router,
    best_single,
    cross_routed,
    domain_features,
    fit_router,
    routed,
)
from vouching.embedded.verify import EmbeddedVerifier
from vouching.errors import ConfigError, InputError
from vouching.evolve.records import Judged, Row, read_record, write_record
from vouching.types import Claim, Label, Source

TALK = "Ann: I think you should see it. Bob: Yeah, we went, do you know why? Ann: No, but I'm sure you will tell me."
PROSE = "The report of the commission describes the construction of the bridge, which was completed in 1973 near Oslo."


def rows(count: int) -> list[Row]:
    """Half about talk, half about prose; each from a document of its own."""
    made: list[Row] = []
    for n in range(count):
        label: Label = "Attributable" if n // 2 % 2 else "Not Attributable"
        name, text = (("talk", TALK), ("prose", PROSE))[n % 2]
        made.append(Row(str(n), f"Point {n} was made.", f"{text} It is item {n}.", label, name))
    return made


def answered(row: Row, right: bool) -> Judged:
    attributable = row.attributable == right
    return Judged(row, 0.9 if attributable else 0.1, "Attributable" if attributable else "Not Attributable")


def specialist(rows: Sequence[Row], good_at: str, elsewhere: float = 0.4, seed: int = 0) -> list[Judged]:
    """Right on one set, and on the other with a given probability."""
    draw = random.Random(f"{seed} {good_at}")
    return [answered(row, row.data_set == good_at or draw.random() < elsewhere) for row in rows]


def share(judged: Sequence[Judged]) -> float:
    return float(np.mean([one.right is True for one in judged]))


def test_a_router_distinguishes_specialists_of_two_domains_on_unseen_documents() -> None:
    known, fresh = rows(160)[:120], rows(160)[120:]
    answers = {name: specialist(known, name) for name in ("talk", "prose")}
    router = fit_router(answers)
    later = {name: specialist(fresh, name, seed=1) for name in ("prose", "talk")}
    assert max(share(one) for one in later.values()) < 0.9
    assert share(routed(router, later)) == 1
    assert share(cross_routed(answers)) == 1
    assert {router.choose(row.claim, row.source) == row.data_set for row in fresh} == {True}


def test_a_router_is_not_measured_on_documents_that_it_was_fitted_on() -> None:
    """Two of twelve documents are talk, and one specialist is right there only. Without one of them the other one is
    all that tells of talk, and a fold without that shows no gain: so the other specialist is asked, and is wrong.
    """
    known = [
        replace(row, source=f"{TALK if n // 8 in (0, 6) else PROSE} It is item {n}.", group=f"{n // 8}", data_set="a")
        for n, row in enumerate(rows(96))
    ]
    talk = [row.source.startswith(TALK) for row in known]
    answers = {
        "talk": [answered(row, here) for row, here in zip(known, talk, strict=True)],
        "prose": [answered(row, not here) for row, here in zip(known, talk, strict=True)],
    }
    assert share(routed(fit_router(answers), answers)) == 1
    assert [one.right for one in cross_routed(answers)] == [not here for here in talk]


def test_the_best_one_is_asked_alone_if_the_texts_do_not_show_who_is_right() -> None:
    known, draw = rows(120), random.Random(5)
    answers = {
        "good": [answered(row, draw.random() < 0.9) for row in known],
        "bad": [answered(row, draw.random() < 0.3) for row in known],
    }
    assert best_single(answers) == "good"
    router = fit_router(answers)
    assert router.specialists[0] == "good"
    assert {router.choose(row.claim, row.source) for row in known} == {"good"}


def test_a_verifier_that_fails_is_not_right() -> None:
    known = rows(40)
    silent = [Judged(row, unverified="backend: gone") for row in known]
    coin = [answered(row, bool(place % 3)) for place, row in enumerate(known)]
    assert best_single({"silent": silent, "coin": coin}) == "coin"


def test_sets_and_labels_have_equal_weight_for_the_best_single_specialist() -> None:
    # "many" is right on the 36 rows of one set, "few" on the four of the other: both are right on half of the sets; and
    # "few" gets two rows of the large set too.
    large = [Row(f"l{n}", f"Claim {n}.", f"Text {n}.", "Attributable", "large") for n in range(36)]
    small = [Row(f"s{n}", f"Other {n}.", f"Words {n}.", "Attributable", "small") for n in range(4)]
    many = [answered(row, row.data_set == "large") for row in [*large, *small]]
    few = [answered(row, row.data_set == "small" or row.id in {"l0", "l1"}) for row in [*large, *small]]
    assert best_single({"many": many, "few": few}) == "few"


def test_a_router_is_read_back_and_refused_if_the_features_differ(tmp_path: Path) -> None:
    path = tmp_path / "router.json"
    known = rows(60)
    router = fit_router({name: specialist(known, name) for name in ("talk", "prose")})
    write_record(path, router)
    assert read_record(path, Router) == router
    path.write_text(path.read_text(encoding="utf-8").replace(FEATURES[0], "mood of the claim"), encoding="utf-8")
    with pytest.raises(InputError, match="fit it again"):
        read_record(path, Router)


def test_a_routed_verifier_asks_each_specialist_its_own_claims_and_keeps_the_order() -> None:
    known = rows(120)
    router = fit_router({name: specialist(known, name) for name in ("talk", "prose")})
    # Two thresholds tell who judged.
    verifier = RoutedVerifier(router, {"talk": EmbeddedVerifier(0.2), "prose": EmbeddedVerifier(0.7)})
    claims = [Claim("Ann is sure.", "claim-1"), Claim("Bob went.", "claim-2")]
    talk = asyncio.run(verifier.verify(claims, [Source(TALK)]))
    prose = asyncio.run(verifier.verify(claims, [Source(PROSE)]))
    assert [[one.claim.id for one in found] for found in (talk, prose)] == [["claim-1", "claim-2"]] * 2
    assert {one.threshold for one in talk if one.kind == "verdict"} == {0.2}
    assert {one.threshold for one in prose if one.kind == "verdict"} == {0.7}
    with pytest.raises(ConfigError, match="'prose'"):
        RoutedVerifier(router, {"talk": EmbeddedVerifier()})


def test_answers_to_other_rows_and_single_specialists_are_refused() -> None:
    known = rows(40)
    with pytest.raises(InputError, match="at least two specialists, got 1"):
        fit_router({"talk": specialist(known, "talk")})
    with pytest.raises(InputError, match="the answers are to different rows"):
        fit_router({"talk": specialist(known, "talk"), "prose": specialist(known[::-1], "prose")})
    router = fit_router({name: specialist(known, name) for name in ("talk", "prose")})
    with pytest.raises(InputError, match="requires answers from"):
        routed(router, {"talk": specialist(known, "talk")})


def test_features_are_finite_for_any_text_and_do_not_depend_on_the_end_of_a_long_source() -> None:
    for claim, source in [("", ""), ("?", "\n\n"), ("\U0001f600", "1" * 50_000), ("Es regnet.", "«Ja»")]:
        assert np.isfinite(domain_features(claim, source)).all()
    same = domain_features("It rained.", "It did. " * 2_500 + "I, you.") == domain_features(
        "It rained.", "It did. " * 2_500
    )
    assert same.all()


def test_a_contest_measures_the_mean_over_sets_against_the_best_alone_on_rows_that_all_answered() -> None:
    known = rows(80)
    answers = {name: specialist(known, name, elsewhere=0.0) for name in ("talk", "prose")}
    answers["talk"][0] = Judged(known[0], unverified="refused: no")
    mixed = cross_routed({name: specialist(known, name, elsewhere=0.0) for name in ("talk", "prose")})
    found = contest(answers, {"router": mixed}, "talk", resamples=200)
    assert (found.rows, found.excluded) == (79, 1)
    by_name = {one.name: one for one in found.contenders}
    # Right on one of two sets and wrong on all of the other: 1 and 0.
    assert by_name["talk"].sets == {"prose": 0.0, "talk": 1.0}
    assert (by_name["talk"].mean, by_name["prose"].mean, by_name["router"].mean) == (0.5, 0.5, 1.0)
    assert by_name["router"].difference["estimate"] == 0.5
    assert by_name[ORACLE].mean == 1.0
    with pytest.raises(InputError, match="the name 'talk' is used twice"):
        contest(answers, {"talk": mixed}, "talk")
    with pytest.raises(InputError, match="unknown specialist 'nobody'"):
        contest(answers, {}, "nobody")
