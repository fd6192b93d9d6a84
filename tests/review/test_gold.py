"""Reviewed verdicts as gold: every command that is meant to read it does."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from tests.review.kept import keep, review_sample
from vouching import Checker
from vouching.cli.app import app_for
from vouching.errors import InputError
from vouching.evolve.rows import read_rows
from vouching.judging.calibration import load_calibration
from vouching.ledger import RetentionRule, open_ledger
from vouching.methods.checklist.config import read_gold
from vouching.methods.structured.reply import Reply, parse_reply
from vouching.review import Decision, ItemId, ReviewQueue
from vouching.review.gold import export_gold, gold_records, labelled_verdicts
from vouching.types import ReviewedVerdict
from vouching.types.serial import from_json

WRONG = "Not Attributable"
SOURCE = "The bridge opened in 1973. It has two towers."


@pytest.fixture
def reviewed(tmp_path: Path) -> str:
    """A ledger with 24 reviewed verdicts of the rules: every fourth is corrected."""
    target = str(tmp_path / "ledger.db")
    with open_ledger(target) as ledger:
        checker = Checker("embedded:rules", ledger=ledger)
        for number in range(24):
            year = 1973 if number % 2 else 1900 + number
            checker.check(f"The bridge opened in {year}.", f"{SOURCE} Note {number}.")
        queue = ReviewQueue(ledger)
        for number, line in enumerate(sorted(queue.lines(limit=100), key=lambda one: one.id)):
            other = "Attributable" if line.label == WRONG else WRONG
            given = Decision(other, note="a remark") if number % 4 == 0 else Decision(span=(0, 10))
            queue.decide("ann", line.id, given, ("sampled", queue.seed))
    return target


def run(*arguments: str) -> str:
    done = CliRunner().invoke(app_for(arguments[0]), arguments)
    assert done.exit_code == 0, done.output
    return done.output


def test_rows_are_records_with_a_schema_and_are_read_as_labelled_rows(reviewed: str, tmp_path: Path) -> None:
    path = tmp_path / "gold.jsonl"
    assert "24 reviewed verdicts" in run("review", "export", str(path), "--ledger", reviewed)
    records = [from_json(ReviewedVerdict, line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len(records) == 24
    corrected = records[0]
    assert (corrected.label, corrected.verdict.label, corrected.reviewer) == ("Attributable", WRONG, "ann")
    assert (corrected.note, corrected.error_type) == ("a remark", None)
    assert [span.text for span in records[1].spans] == ["The bridge"]
    rows = read_rows(path)
    assert [row.label for row in rows] == [record.label for record in records]
    assert {row.error_type for row in rows} == {None, "temporal_shift"}
    assert len({row.group for row in rows}) == 24


def test_reflection_and_calibration_read_the_rows(reviewed: str, tmp_path: Path) -> None:
    path, out = tmp_path / "gold.jsonl", tmp_path / "reflection.json"
    run("review", "export", str(path), "--ledger", reviewed)
    run("evolve", "reflect", "--input", str(path), "--output", str(out), "--model", "embedded:rules")
    assert json.loads(out.read_text(encoding="utf-8"))
    for number, given in enumerate((("--input", str(path)), ("--from-ledger", reviewed))):
        made = tmp_path / f"calibration-{number}.json"
        run("calibrate", *given, "--model", "embedded:rules", "--output", str(made))
        assert load_calibration(made).measured["rows"] == 24


def test_checklists_train_on_the_examples(reviewed: str, tmp_path: Path) -> None:
    path = tmp_path / "items.jsonl"
    run("review", "export", str(path), "--ledger", reviewed, "--as", "checklist")
    labelled = read_gold([str(path)])
    assert sum(one.l for one in labelled) == sum(
        record.label == "Attributable" for record in gold_records(ReviewQueue(open_ledger(reviewed)))
    )
    assert SOURCE in labelled[0].x
    assert "a remark" not in path.read_text(encoding="utf-8")


def test_imitation_reads_chats_of_confirmed_verdicts_and_labels_of_all(reviewed: str, tmp_path: Path) -> None:
    from vouching.train.sft import read_chats, read_labels

    path, rows = tmp_path / "chats.jsonl", tmp_path / "rows.jsonl"
    said = run("review", "export", str(path), "--ledger", reviewed, "--as", "chats")
    assert "left out 6: corrected" in said
    chats = read_chats([str(path)])
    assert len(chats) == 18
    reply = parse_reply(chats[0].completion, Reply)
    assert reply.label in {"Attributable", WRONG}
    run("review", "export", str(rows), "--ledger", reviewed)
    assert len(read_labels([str(rows)])) == 24
    assert "a remark" not in path.read_text(encoding="utf-8") + str(read_labels([str(rows)]))


def test_verdicts_of_a_language_model_are_calibrated_as_they_are(tmp_path: Path) -> None:
    target, made = str(tmp_path / "ledger.db"), tmp_path / "model.json"
    with open_ledger(target) as ledger:
        queue = ReviewQueue(ledger)
        # Scores of .9 and .1, of which 7 in 10 are right: the calibration moves them towards .7 and .3.
        gold: dict[ItemId, str] = {}
        for number, id in enumerate(keep(ledger, [0.9, 0.1] * 50)):
            right = "Attributable" if number % 2 == 0 else WRONG
            wrong = WRONG if number % 2 == 0 else "Attributable"
            gold[id] = right if number % 20 < 14 else wrong
        review_sample(queue, gold)
        assert len(labelled_verdicts(queue)) == 100
    said = run("calibrate", "--from-ledger", target, "--output", str(made))
    assert "for scripted, fitted on 100 rows" in said
    assert load_calibration(made).calibrator.apply([0.9])[0] == pytest.approx(0.7, abs=0.02)
    assert CliRunner().invoke(app_for("calibrate"), ["calibrate", "--output", str(made)]).exit_code == 2


def test_a_calibration_uses_only_what_as_many_people_as_asked_for_decided(tmp_path: Path) -> None:
    target = str(tmp_path / "ledger.db")
    with open_ledger(target) as ledger:
        keep(ledger, [0.9, 0.1] * 30)
        queue = ReviewQueue(ledger, 2)
        gold = {line.id: line.label for line in queue.lines()}
        review_sample(queue, gold)
        review_sample(queue, gold, 40, "bob")  # 20 have one decision of the two
    for reviewers, rows in ((1, 60), (2, 40)):
        made = tmp_path / f"by-{reviewers}.json"
        run("calibrate", "--from-ledger", target, "--reviewers", str(reviewers), "--output", str(made))
        assert load_calibration(made).measured["rows"] == rows
        given = ("--from-ledger", target, "--reviewers", str(reviewers), "--model", "embedded:rules")
        again = CliRunner().invoke(
            app_for("calibrate"), ["calibrate", *given, "--output", str(tmp_path / f"rules-{rows}.json")]
        )
        assert f"the {rows} scores of embedded:rules are all" in again.output  # the claims of these verdicts are equal


def test_only_the_random_sample_calibrates_unless_every_review_is_asked_for(tmp_path: Path) -> None:
    target, made = str(tmp_path / "ledger.db"), tmp_path / "model.json"
    with open_ledger(target) as ledger:
        ids = keep(ledger, [0.9, 0.1] * 12)
        queue = ReviewQueue(ledger)
        for id in ids:
            queue.decide("ann", id, Decision())  # chosen by hand
        assert (labelled_verdicts(queue), len(labelled_verdicts(queue, every=True))) == ([], 24)
    for given in ((), ("--model", "embedded:rules")):
        done = CliRunner().invoke(
            app_for("calibrate"), ["calibrate", "--from-ledger", target, "--output", str(made), *given]
        )
        assert done.exit_code == 2
        assert "in the random sample: review in the order sampled, or pass --every" in " ".join(done.output.split())
    assert "fitted on 24 rows" in run("calibrate", "--from-ledger", target, "--every", "--output", str(made))


def test_erased_texts_are_left_out_and_counted(reviewed: str, tmp_path: Path) -> None:
    with open_ledger(reviewed) as ledger:
        ledger.erase(RetentionRule(ids=(1, 2)), "asked for")
        queue = ReviewQueue(ledger)
        found = export_gold(queue, tmp_path / "gold.jsonl")
        assert (found.written, found.left_out) == (22, {"texts erased or not kept": 2})
        with pytest.raises(InputError, match="exists"):
            export_gold(queue, tmp_path / "gold.jsonl")
        with pytest.raises(InputError, match="unknown form"):
            export_gold(queue, tmp_path / "other.jsonl", "csv")  # type: ignore[arg-type]


def test_the_status_shows_what_is_left_and_what_reviews_say(reviewed: str) -> None:
    found = json.loads(run("review", "status", "--ledger", reviewed, "--every", "--json"))
    assert found["counts"] == {"open": 0, "disputed": 0, "final": 24, "locked": 0}
    assert found["reliability"]["rows"] == 24
    text = run("review", "status", "--ledger", reviewed)
    assert "24 final" in text
    assert "reviewed in the sample: 24" in text
