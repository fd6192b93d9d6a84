"""Published training sets, row by row in the form of their files, and that training reads what they become."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from vouching.bench.training_sets import convert, set_of, training_rows
from vouching.cli.app import app
from vouching.errors import InputError
from vouching.inputs import labelled_row
from vouching.methods.blinded.config import read_questions
from vouching.methods.checklist.items import instruction_of
from vouching.rows import Row
from vouching.rules.verify import named_items

HERE = Path(__file__).parent / "data"
ANLI = {
    "uid": "1",
    "model_label": "c",
    "emturk": True,
    "genre": "wiki",
    "reason": "",
    "tag": "r1",
    "context": "The bridge opened in 1973.",
    "hypothesis": "The bridge opened in 1937.",
    "label": "c",
}
ANLI_HUB = {"uid": "1", "premise": "The bridge opened in 1973.", "hypothesis": "It is open.", "label": 0, "reason": ""}
PAIR = {
    "cid": "91198",
    "fid": 91198,
    "context": "Old Bridge: It opened in 1973.",
    "query": "It opened in 1973.",
    "label": "SUPPORTS",
}
NEMOTRON = {
    "input": [{"role": "user", "content": "Name a bridge. Use no commas."}],
    "output": "",
    "category": "if",
    "args": json.dumps({"instruction_id_list": ["punctuation:no_comma"], "instruction_kwargs": [None]}),
    "license": "cc-by-4.0",
    "used_in_training": "yes",
}
GYM = {
    "id": 3,
    "instruction_id_list": ["punctuation:no_comma"],
    "kwargs": [{}],
    "prompt": "Use no commas.",
    "responses_create_params": {"input": [{"role": "user", "content": "Use no commas."}]},
}
WIKI = {
    "_id": "8",
    "type": "compositional",
    "question": "Who built the mill?",
    "answer": "Ada",
    "context": [["Mill", ["It stands.", " Ada built it."]], ["Oslo", ["Oslo is a city."]]],
    "supporting_facts": [["Mill", 1]],
    "evidences": [["Mill", "builder", "Ada"]],
}
MUSIQUE = {
    "id": "2hop__1_2",
    "question": "Who built it?",
    "answer": "Ada",
    "answer_aliases": ["Ada L."],
    "answerable": True,
    "question_decomposition": [],
    "paragraphs": [{"idx": 0, "title": "Mill", "paragraph_text": "Ada built it.", "is_supporting": True}],
}
BIOASQ = {
    "questions": [
        {
            "id": "55",
            "type": "factoid",
            "body": "What does allopurinol inhibit?",
            "documents": ["http://x.org/pubmed/10"],
            "exact_answer": [["xanthine oxidase", "XO"]],
            "ideal_answer": ["Xanthine oxidase."],
            "snippets": [
                {
                    "document": "http://x.org/pubmed/10",
                    "text": "Allopurinol inhibits xanthine oxidase.",
                    "beginSection": "abstract",
                    "endSection": "abstract",
                    "offsetInBeginSection": 0,
                    "offsetInEndSection": 38,
                },
                {
                    "document": "http://x.org/pubmed/10",
                    "text": "It is a drug.",
                    "beginSection": "abstract",
                    "endSection": "abstract",
                    "offsetInBeginSection": 39,
                    "offsetInEndSection": 52,
                },
                {
                    "document": "http://x.org/pubmed/11",
                    "text": "XO makes uric acid.",
                    "beginSection": "title",
                    "endSection": "title",
                    "offsetInBeginSection": 0,
                    "offsetInEndSection": 19,
                },
            ],
        }
    ]
}


def convert_file(folder: Path, path: Path, *arguments: str) -> tuple[Result, list[dict[str, Any]]]:
    output = folder / f"made-{len([*folder.iterdir()])}.jsonl"
    result = CliRunner().invoke(app, ["data", "convert", "--input", str(path), "--output", str(output), *arguments])
    lines = output.read_text(encoding="utf-8").splitlines() if output.exists() else []
    return result, [json.loads(line) for line in lines]


def one(row: dict[str, Any]) -> dict[str, Any]:
    [made] = convert(row)[1]
    return made


@pytest.mark.parametrize(
    ("row", "name", "label"),
    [(ANLI, "ANLI", "contradiction"), (ANLI_HUB, "ANLI", "entailment"), (PAIR, "FEVER, as pairs", "entailment")],
)
def test_entailment_becomes_claims_with_labels_that_are_read_as_such(
    row: dict[str, Any], name: str, label: str
) -> None:
    made = one(row)
    found = set_of(row)
    assert found is not None
    assert found.name == name
    assert made["fine_label"] == label
    read = labelled_row(Row(1, "line 1", made))
    assert read.gold == ("Attributable" if label == "entailment" else "Not Attributable")


def test_instructions_keep_the_rules_by_which_they_can_be_judged() -> None:
    for row, text in ((NEMOTRON, "Name a bridge. Use no commas."), (GYM, "Use no commas.")):
        made = one(row)
        assert instruction_of(made) == text
        [item] = named_items(made)
        assert item.rule == "punctuation:no_comma"


def test_an_instruction_of_several_turns_is_one_text_with_its_roles() -> None:
    turns = [
        {"role": "system", "content": "detailed thinking on"},
        {"role": "user", "content": "Hi."},
        {"role": "assistant", "content": "Hello."},
        {"role": "user", "content": "Name a bridge."},
    ]
    assert one({"input": turns})["instruction"] == "[user]\nHi.\n\n[assistant]\nHello.\n\n[user]\nName a bridge."


@pytest.mark.parametrize("row", [WIKI, MUSIQUE])
def test_questions_with_documents_are_what_the_blinded_game_trains_on(row: dict[str, Any], tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(json.dumps(one(row)), encoding="utf-8")
    [made] = read_questions([str(path)])
    assert made["sources"][0]["title"] == "Mill"
    assert "Ada built it." in made["sources"][0]["text"]
    assert one(row)["answers"][0] == "Ada"


def test_a_file_of_bioasq_becomes_questions_whose_snippets_are_joined_by_document(tmp_path: Path) -> None:
    path = tmp_path / "training13b.json"
    path.write_text(json.dumps(BIOASQ), encoding="utf-8")
    result, [row] = convert_file(tmp_path, path)
    assert result.exit_code == 0, result.output
    assert [source["text"] for source in row["sources"]] == [
        "Allopurinol inhibits xanthine oxidase.\nIt is a drug.",
        "XO makes uric acid.",
    ]
    assert (row["id"], row["sources"][0]["id"], row["answers"]) == ("55", "10", ["xanthine oxidase"])


def test_fever_takes_its_evidence_from_the_pages_and_says_so_without_them(tmp_path: Path) -> None:
    claims, pages = HERE / "fever/paper_test.jsonl", HERE / "fever/wiki-pages"
    result, rows = convert_file(tmp_path, claims, "--pages", str(pages))
    assert rows[0]["claim"] == "The Old Bridge opened in 1973."
    assert rows[0]["source"].startswith("Old Bridge (Sampleton)\n")
    assert {row["fine_label"] for row in rows} <= {"entailment", "contradiction"}
    assert "which no page file contains" in result.stderr  # the page "Nowhere" of the fixture
    result, rows = convert_file(tmp_path, claims)
    assert (result.exit_code, rows) == (3, [])
    assert "pass --pages FOLDER with the wiki-pages of FEVER" in result.stderr


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({**ANLI, "label": "x"}, "ANLI: .*must be one of"),
        ({**WIKI, "context": "flat"}, "HotpotQA or 2WikiMultihopQA: "),
        ({**BIOASQ["questions"][0], "snippets": []}, "BioASQ: the question has no snippets"),
        ({"claim": "It opened.", "text": "It did."}, "unknown format: the row has claim and text; the nearest is"),
    ],
)
def test_a_row_in_another_form_is_refused_with_what_was_expected(row: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        convert(row)


def test_rows_of_tools_and_our_own_are_not_taken_for_training_rows() -> None:
    deepeval = {"input": "When?", "actual_output": "In 1973.", "retrieval_context": ["It opened in 1973."]}
    assert convert(deepeval)[0].startswith("DeepEval: ")
    assert convert({"claim": "It opened.", "sources": ["It did."], "evidence": [], "label": "x"})[0].startswith(
        "vouching"
    )


def test_every_set_says_where_it_is_to_be_had_when_a_field_has_another_form() -> None:
    found = set_of(NEMOTRON)
    assert found is not None
    with pytest.raises(InputError, match="get the set from hf:nvidia/"):
        training_rows(found, {**NEMOTRON, "args": "not json"})
