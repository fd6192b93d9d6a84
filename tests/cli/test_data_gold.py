"""``vouch data gold``: examples by rule and by person, and rows that may not be used."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pytest

from vouching.cli.data import ended, evaluations
from vouching.cli.streams import Exit, show_rows
from vouching.errors import InputError, ModelUnavailableError
from vouching.methods.checklist import gold
from vouching.methods.checklist.gold import KnownTexts, forbidden_prompts, read_labels
from vouching.models import ScriptedModel
from vouching.rows import MadeFiles

EVALUATION = "I am planning a trip to Japan, and I would like thee to write an itinerary without any commas."
ROWS: list[Any] = [
    {
        "id": "a",
        "instruction": "Name a bridge. No commas.",
        "checklist": ["Is a bridge named?", {"rule": "punctuation:no_comma"}],
    },
    {
        "id": "b",
        "prompt": "Say it in capitals.",
        "instruction_id_list": ["change_case:english_capital"],
        "kwargs": [{}],
    },
    {"id": "c", "instruction": f"{EVALUATION} Be brief.", "checklist": ["Is it brief?"]},
    {"id": "d", "instruction": "Name a river."},
]
SCRIPT = {"bridge": "Well, Tower Bridge.", "capitals": "THE BRIDGE OPENED IN SPRING AND IT IS STILL OPEN"}


@dataclass(frozen=True)
class GoldOptions:
    """What the command is given."""

    input: str
    output: Path
    forbidden: KnownTexts
    samples: int = 1
    labels: Mapping[str, bool] = field(default_factory=dict[str, bool])
    resume: bool = False

    @property
    def files(self) -> MadeFiles:
        return MadeFiles(self.input, self.output, self.resume)

    @property
    def unlabelled(self) -> Path:
        return gold.unlabelled_path(self.files)

    @property
    def rejected(self) -> Path:
        return self.files.rejected


def make_gold(options: GoldOptions, model: ScriptedModel) -> Exit:
    """As the command does it."""
    asked = gold.GoldOptions(options.forbidden, options.samples, options.labels)
    return ended(gold.make_gold(options.files, asked, model, show_rows))


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(path: Path, rows: list[Any]) -> str:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return str(path)


@pytest.fixture
def options(tmp_path: Path) -> GoldOptions:
    return GoldOptions(written(tmp_path / "rows.jsonl", ROWS), tmp_path / "gold.jsonl", KnownTexts([EVALUATION]))


def test_items_with_a_rule_are_labelled_and_the_others_wait(
    options: GoldOptions, capsys: pytest.CaptureFixture[str]
) -> None:
    assert make_gold(options, ScriptedModel(SCRIPT)) == Exit.INCOMPLETE
    comma, capitals = lines(options.output)
    assert comma == {
        "id": "a/0/1",
        "x": "Name a bridge. No commas.",
        "y": "Well, Tower Bridge.",
        "c": "Is the response free of commas?",
        "l": 0,
        "by": "rule",
    }
    assert (capitals["id"], capitals["l"]) == ("b/0/0", 1)
    [waiting] = lines(options.unlabelled)
    assert (waiting["id"], waiting["c"], waiting["l"]) == ("a/0/0", "Is a bridge named?", None)
    told = capsys.readouterr().err
    assert "2 examples: 1 yes, 1 no; 2 by rule, 0 by a person" in told
    assert "1 example needs a person's label" in told


def test_a_row_that_overlaps_with_an_evaluation_is_refused_before_anybody_answers_it(options: GoldOptions) -> None:
    model = ScriptedModel(SCRIPT)
    make_gold(options, model)
    refused, bare = lines(options.rejected)
    assert (refused["id"], bare["id"]) == ("c", "d")
    assert "overlaps with the evaluation prompt" in refused["problem"]
    assert 'no value for "checklist"' in bare["problem"]
    assert len(model.asked) == 2


def test_a_second_row_of_one_id_is_refused_so_that_labels_find_their_example(options: GoldOptions) -> None:
    again = {**ROWS[0], "instruction": "Name another bridge."}
    written(Path(options.input), [ROWS[0], again])
    assert make_gold(options, ScriptedModel(SCRIPT)) == Exit.INCOMPLETE
    assert "the id 'a' is already used by row 1" in lines(options.rejected)[0]["problem"]
    assert len(lines(options.unlabelled)) == 1
    written(Path(options.input), [ROWS[0], again, {**ROWS[1], "id": "a"}, ROWS[1]])
    make_gold(replace(options, resume=True), ScriptedModel(SCRIPT))  # the first row was answered before
    assert [row["id"] for row in lines(options.output)] == ["a/0/1", "b/0/0"]


def test_what_a_person_says_is_kept_by_later_runs(options: GoldOptions, tmp_path: Path) -> None:
    model = ScriptedModel(SCRIPT)
    make_gold(options, model)
    filled = [{**row, "l": "yes"} for row in lines(options.unlabelled)]
    labels = read_labels(written(options.unlabelled, filled))
    make_gold(replace(options, resume=True, labels=labels), model)
    assert [(row["id"], row["l"], row["by"]) for row in lines(options.output)] == [
        ("a/0/0", 1, "person"),
        ("a/0/1", 0, "rule"),
        ("b/0/0", 1, "rule"),
    ]
    make_gold(replace(options, resume=True), model)
    assert lines(options.output)[0]["by"] == "person"
    assert lines(options.unlabelled) == []
    assert len(model.asked) == 2  # nobody was asked again


def test_the_policy_is_sampled_as_often_as_asked_and_asked_in_its_own_turns(options: GoldOptions) -> None:
    turns = [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Name a bridge."}]
    rows = [{"id": "m", "messages": turns, "checklist": [{"rule": "punctuation:no_comma"}]}]
    model = ScriptedModel(["Tower Bridge.", "Oh, none.", "<think>Hm, so.</think>Akashi."])
    make_gold(replace(options, input=written(Path(options.input), rows), samples=3), model)
    assert [row["l"] for row in lines(options.output)] == [1, 0, 1]
    assert lines(options.output)[2]["y"] == "Akashi."
    assert [(message.role, message.content) for message in model.asked[0].messages] == [
        ("system", "Be brief."),
        ("user", "Name a bridge."),
    ]
    assert model.asked[0].sampling.temperature == 1.0


def test_an_outage_is_resumed(options: GoldOptions) -> None:
    busy = {"bridge": "None.", "capitals": ModelUnavailableError("busy")}
    assert make_gold(options, ScriptedModel(busy)) == Exit.INCOMPLETE
    assert len(lines(options.output)) == 1
    make_gold(replace(options, resume=True), ScriptedModel(SCRIPT))
    assert lines(options.output)[0]["y"] == "None."


@pytest.mark.parametrize(
    ("row", "complaint"),
    [({"l": 1}, "no id"), ({"id": 1, "l": 2}, "must be 1, 0, yes or no"), ({"id": 1, "l": "so"}, "'so'")],
)
def test_labels_that_are_none_are_refused(tmp_path: Path, row: dict[str, Any], complaint: str) -> None:
    with pytest.raises(InputError, match=complaint):
        read_labels(written(tmp_path / "labels.jsonl", [row]))


def test_labels_that_contradict_each_other_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path / "labels.jsonl", [{"id": "a", "l": 1}, {"id": "a", "l": None}, {"id": "a", "l": 0}])
    with pytest.raises(InputError, match="line 3: 'a' has the opposite label in an earlier row"):
        read_labels(path)


def test_a_label_for_no_example_is_refused(options: GoldOptions) -> None:
    with pytest.raises(InputError, match="'z/0/0' does not belong to any example"):
        make_gold(replace(options, labels={"z/0/0": True}), ScriptedModel(SCRIPT))


def test_without_prompts_to_keep_out_there_is_no_gold(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("VOUCH_DATA", str(tmp_path))
    with pytest.raises(InputError, match="--evaluation ROWS"):
        forbidden_prompts(evaluations([]))
    path = written(tmp_path / "eval.jsonl", [{"prompt": EVALUATION}])
    assert forbidden_prompts(evaluations([path])).texts == (EVALUATION,)
    (tmp_path / "ifeval").mkdir()
    written(tmp_path / "ifeval" / "input_data.jsonl", [{"prompt": "Name a bridge."}])
    assert forbidden_prompts(evaluations([path])).find("Name a bridge!") == "Name a bridge."
