"""Lessons: what a language model is taught of a probe is true of the texts, and what is not known is not taught."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from vouching.evolve.records import Probe, Row
from vouching.evolve.structured_examples import changes, reply_of, write_examples
from vouching.judging.windows import ScreenedSources
from vouching.methods.structured.prompt import structured_prompt
from vouching.methods.structured.reading import read_reply
from vouching.methods.structured.reply import Reply, parse_reply
from vouching.methods.structured.teacher import Teacher, gold_faults, training_reply
from vouching.models.scripted import ScriptedModel
from vouching.perturb import CorpusPool, perturb
from vouching.train.sft import read_chats
from vouching.types import ERROR_TYPES, Claim, Source, Unverified

TEXTS = [
    (
        "The bridge opened in March 1973 and may carry some of the traffic to Oslo.",
        "The bridge opened in March 1973 and may carry some of the traffic to Oslo. Bergen lies in the west.",
    ),
    ("Ann Lee won the race for Norway.", "In Oslo, Ann Lee won the race for Norway. Bob Roy of Sweden came second."),
    ("The tower cost $5 million.", "The tower opened in 1973 and cost $5 million."),
    (
        "The mill was founded by Jon Berg after 60 people died.",
        "The mill was founded by Jon Berg after 60 people died.",
    ),
]


def probes() -> list[Probe]:
    """All that the strategies make of the texts."""
    pool = CorpusPool()
    for _, source in TEXTS:
        pool.add(source)
    return [
        Probe(
            f"r/{i}", made.claim, source, made.label, made.error_type, made.strategy, claim, made.spans, "r", "r", "toy"
        )
        for claim, source in TEXTS
        for i, made in enumerate(perturb(claim, source, pool=pool))
    ]


@pytest.mark.parametrize("probe", probes(), ids=lambda probe: probe.strategy)
def test_the_record_of_a_probe_is_one_that_the_verifier_accepts_with_the_label_and_type_of_the_probe(
    probe: Probe,
) -> None:
    reply = reply_of(probe.row, probe.original)
    assert isinstance(reply, Reply)
    assert (reply.label, reply.error_type) == (probe.label, probe.error_type)
    assert not [*gold_faults(reply, probe.label)]
    reading = read_reply(reply, Claim(probe.claim), ScreenedSources([Source(probe.source)]))
    assert not isinstance(reading, Unverified)
    # Every quote stands in a text, and nothing in the record speaks against the label.
    assert reading.grounded == 1
    assert reading.warnings == ()
    assert reading.revised == (None if probe.label == "Attributable" else probe.original)
    assert parse_reply(training_reply(reply), Reply) == reply


def test_there_are_probes_of_every_kind_among_those() -> None:
    assert {probe.error_type for probe in probes()} == {None, *ERROR_TYPES}


def test_a_change_that_the_rules_do_not_find_is_still_recorded() -> None:
    # "crimson" and "scarlet" are no opposites, numbers or names: to the rules it is a word not found, or close enough.
    row = Row(
        "1",
        "The old bridge is painted crimson.",
        "The old bridge is painted scarlet.",
        "Not Attributable",
        error_type="fabrication",
    )
    reply = reply_of(row, "The old bridge is painted scarlet.")
    assert isinstance(reply, Reply)
    [fault] = [entry for entry in reply.evidence_alignment if entry.status != "match"]
    assert "crimson" in fault.claim_span
    assert reply.fix_suggestion == 'Change "crimson" to "scarlet".'


def test_a_row_of_which_the_rules_find_too_little_gives_no_example() -> None:
    paraphrase = Row("1", "Nobody died.", "There were no casualties whatsoever in the accident.", "Attributable")
    assert reply_of(paraphrase) == "too little is found"
    # Gold says Not Attributable, the rules find every word: a reason would be made up.
    hidden = Row("2", "It opened in 1973.", "It opened in 1973.", "Not Attributable")
    assert reply_of(hidden) == "the rules see no fault"


@pytest.mark.parametrize(
    ("claim", "original", "expected"),
    [
        # Words put in: nothing stood there.
        ("Ann, a poet, won.", "Ann won.", [(3, 12, "")]),
        # Two separate changes.
        ("Bob met Ann.", "Ann met Bob.", [(0, 3, "Ann"), (8, 11, "Bob")]),
        # A word taken out at the very end shows in the one before.
        ("It may rain", "It may rain tomorrow", [(7, 11, "rain tomorrow")]),
        ("It rained.", "It rained.", []),
    ],
)
def test_changes_are_words_with_their_originals(
    claim: str, original: str, expected: list[tuple[int, int, str]]
) -> None:
    assert [tuple(change) for change in changes(claim, original)] == expected


def test_examples_are_chats_with_the_prompt_of_the_verifier_and_rows_without_one_are_counted(tmp_path: Path) -> None:
    replay = [
        Row("a", "Nobody died.", "There were no casualties whatsoever.", "Attributable", "toy"),
        Row("b", "It opened in 1973.", "It opened in 1973. " + "It is long. " * 3_000, "Attributable", "toy"),
        Row("c", "It opened in 1937.", "It opened in 1973.", "Not Attributable", "toy"),
    ]
    taught = write_examples(tmp_path / "examples.jsonl", structured_prompt(), probes(), replay)
    assert taught.written == len(probes()) + 1
    assert taught.excluded == {"too little is found": 1, "too long": 1}
    chats = read_chats([str(tmp_path / "examples.jsonl")])
    assert chats[-1].id == "toy/c"
    assert chats[-1].prompt[0]["content"] == structured_prompt().system
    assert json.loads(chats[-1].completion)["fix_suggestion"] == 'Change "opened in 1937" to "opened in 1973".'


def test_a_teacher_writes_in_place_of_the_rules_and_what_misses_the_label_is_not_used(tmp_path: Path) -> None:
    said = Reply([], [], "Attributable", 0.9)
    entry = {"claim_span": "died", "source_span": "casualties", "status": "match"}
    step = {"claim_part": "died", "source_evidence": "casualties", "judgment": "supported", "explanation": "None did."}
    record = {**json.loads(training_reply(said)), "evidence_alignment": [entry], "reasoning_chain": [step]}
    teacher = Teacher(ScriptedModel({"": json.dumps(record)}), ("label", "error_type", "fix"))
    rows = [
        Row("a", "Nobody died.", "There were no casualties whatsoever.", "Attributable", "toy"),
        Row("b", "All died.", "There were no casualties whatsoever.", "Not Attributable", "toy"),
    ]
    taught = write_examples(tmp_path / "examples.jsonl", structured_prompt(), [], rows, teacher)
    assert (taught.written, taught.excluded) == (1, {"the teacher gave none": 1})
    assert [chat.id for chat in read_chats([str(tmp_path / "examples.jsonl")])] == ["toy/a"]
