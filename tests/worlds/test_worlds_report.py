"""From files of outcomes to the table of claims."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from recipes.worlds.claims import CLAIMS
from recipes.worlds.documents import DocumentsWorld
from recipes.worlds.documents import oracle as documents_oracle
from recipes.worlds.effects import Effect
from recipes.worlds.facts import FactsWorld
from recipes.worlds.facts import oracle as facts_oracle
from recipes.worlds.instructions import InstructionsWorld
from recipes.worlds.instructions import oracle as instructions_oracle
from recipes.worlds.report import PaperClaim, compared, read_outcomes, table_of, why
from vouching.errors import InputError

CLAIM = PaperClaim("a is better", "Table 1", "a", "b", "oracle/right")


def write(folder: Path, arm: str, seed: int, right: dict[str, float]) -> None:
    outcomes = {prompt: {"oracle/right": value} for prompt, value in right.items()}
    record = {"arm": arm, "seed": seed, "outcomes": outcomes}
    (folder / f"{arm}-{seed}.json").write_text(json.dumps(record), encoding="utf-8")


def test_arms_are_paired_over_the_seeds_that_both_have(tmp_path: Path) -> None:
    for seed in range(4):
        write(tmp_path, "a", seed, {f"p{i}": 1.0 for i in range(20)})
        if seed < 3:
            write(tmp_path, "b", seed, {f"p{i}": float(i % 2) for i in reversed(range(20))})
    found = compared(CLAIM, read_outcomes(tmp_path))
    assert found is not None
    assert (found.effect.mean, found.effect.seeds, found.effect.prompts) == (0.5, 3, 20)
    assert (found.first, found.second) == (1.0, 0.5)
    [*_, line] = table_of([CLAIM], read_outcomes(tmp_path), {CLAIM.text: "b is a coin"}).splitlines()
    assert line.startswith("| 1 | a is better | Table 1 | a 1.000, b 0.500, right: +0.500 [")
    assert line.endswith("| **holds** | the interval is above 0, and all 3 seeds agree; b is a coin |")


def test_a_measure_among_some_prompts_is_their_mean(tmp_path: Path) -> None:
    # a: half of the records can be read, .8 of those are right; b: all can, .6 are, so over all prompts b has more.
    for arm, readable, right in (("a", 10, 8), ("b", 20, 12)):
        for seed in range(3):
            outcomes = {
                f"p{i}": {"oracle/readable": float(i < readable), "oracle/right": float(i < right)} for i in range(20)
            }
            record = {"arm": arm, "seed": seed, "outcomes": outcomes}
            (tmp_path / f"{arm}-{seed}.json").write_text(json.dumps(record), encoding="utf-8")
    found = compared(replace(CLAIM, among="oracle/readable"), read_outcomes(tmp_path))
    assert found is not None
    assert (found.first, found.second) == (pytest.approx(0.8), pytest.approx(0.6))
    assert found.effect.mean == pytest.approx(0.2)
    assert found.effect.low < 0.2 < found.effect.high


def test_an_arm_that_was_not_run_is_listed_as_not_run(tmp_path: Path) -> None:
    write(tmp_path, "a", 0, {"p": 1.0})
    assert table_of([CLAIM], read_outcomes(tmp_path)).endswith(
        "| 1 | a is better | Table 1 | a - b, right | not run |  |"
    )


def test_arms_judged_on_different_prompts_are_refused(tmp_path: Path) -> None:
    for seed in (0, 1):
        write(tmp_path, "a", seed, {"p": 1.0, "q": 1.0})
        write(tmp_path, "b", seed, {"p": 1.0, "r": 1.0})
    with pytest.raises(InputError, match="different prompts"):
        compared(CLAIM, read_outcomes(tmp_path))


@pytest.mark.parametrize(
    ("name", "values"), [("world", ("facts", "forms")), ("start", ("ab12", "cd34")), ("steps", (150, 1))]
)
def test_results_of_other_worlds_starts_or_lengths_are_not_compared(
    name: str, values: tuple[object, object], tmp_path: Path
) -> None:
    for seed, value in enumerate(values):
        write(tmp_path, "a", seed, {"p": 1.0})
        path = tmp_path / f"a-{seed}.json"
        path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), name: value}), encoding="utf-8")
    with pytest.raises(InputError, match=f"a-1.json has {name} {values[1]}, a-0.json has {values[0]}: keep them in"):
        read_outcomes(tmp_path)
    # The start itself has no steps, which is not another length.
    (tmp_path / "a-1.json").write_text(
        json.dumps({"arm": "initial", "seed": 0, "outcomes": {}, "steps": 0}), encoding="utf-8"
    )
    assert read_outcomes(tmp_path).keys() == {"a", "initial"}


def test_a_prompt_to_which_a_measure_does_not_apply_is_ignored(tmp_path: Path) -> None:
    outcomes = {"a": {0: {"p": {"oracle/right": 1.0}, "q": {"oracle/right": 1.0}, "r": {"other": 1.0}}}}
    outcomes["a"][1] = outcomes["a"][0]
    outcomes["b"] = outcomes["a"]
    found = compared(CLAIM, outcomes)
    assert found is not None
    assert found.effect.prompts == 2


@pytest.mark.parametrize(
    ("ends", "seeds", "agree", "reason"),
    [
        ((0.1, 0.2), 2, True, "2 seeds, from which nothing can be decided"),
        ((0.1, 0.2), 3, False, "the interval is above 0, and the seeds disagree"),
        ((0.01, 0.02), 3, True, "the interval is between -.03 and .03"),
        ((-0.2, -0.1), 3, True, "the interval is below 0"),
        ((-0.2, 0.02), 3, True, "the interval is below .03"),
        ((-0.2, 0.2), 3, True, "the interval contains 0 and .03; a difference of .10 would usually show"),
    ],
)
def test_the_reason_says_what_the_interval_shows(
    ends: tuple[float, float], seeds: int, agree: bool, reason: str
) -> None:
    assert why(Effect(sum(ends) / 2, *ends, 0.1, seeds, 100, agree), 0.03) == reason


def test_a_file_that_has_no_outcomes_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x.json").write_text("[]", encoding="utf-8")
    with pytest.raises(InputError, match=r"x\.json must be a JSON object"):
        read_outcomes(tmp_path)


def test_the_claims_name_measures_that_their_oracles_have() -> None:
    facts = facts_oracle("", FactsWorld(wrong=0.0).rows(1, 0)[0])
    instructions = instructions_oracle("owl", InstructionsWorld().rows(1, 0)[0])
    judgments = ("oracle/judged", "oracle/overrates")  # of benchmarks/world_instructions.py
    documents = documents_oracle("", DocumentsWorld(absent=0.0).rows(1, 0)[0])
    measures = {
        "facts": {*facts, "reward/alignment"},  # benchmarks/world_facts.py
        "instructions": {*instructions, *judgments},
        "documents": {*documents, "oracle/right-many"},
    }
    # test_forms.py, test_answers.py and test_probes.py have the other worlds, by what their experiments measure.
    assert {*CLAIMS} - {*measures} == {"forms", "answers", "probes"}
    for world, known in measures.items():
        assert {claim.measure for claim in CLAIMS[world]} <= known  # pyright: ignore[reportArgumentType]
