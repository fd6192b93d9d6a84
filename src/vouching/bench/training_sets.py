"""Rows of published training sets as rows that Vouch trains on: claims, instructions, questions with documents, tasks.

Each set is recognised by its own fields, from the authors' files or from the Hugging Face hub. What comes out:

    ANLI, FEVER             id, claim, source, label, fine_label        data annotate, data perturb, recipes/encoder
    Nemotron instructions   id, instruction, instruction_id_list        data checklist, train checklist
    HotpotQA, 2Wiki, MuSiQue, BioASQ   id, question, sources, answers   train blinded

Not supported: FEVER's claims without evidence ("NOT ENOUGH INFO"), for which its files name no text; images.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, cast

from vouching.bench.multihop import multihop_row
from vouching.bench.published import FeverPages, fever_pages, fever_row
from vouching.bench.rows import Record, text_of
from vouching.errors import InputError
from vouching.methods.checklist.prompt import conversation_text
from vouching.rows import fields_of, open_rows
from vouching.rows.row import Fields
from vouching.rows.shapes import as_row, is_ours, shape_of, understood
from vouching.text.json_values import parse_json
from vouching.types.visible import shown_json


@dataclass(frozen=True, slots=True)
class TrainingSet:
    """A published set."""

    name: str
    needs: tuple[str, ...]
    """Fields by which its rows are recognised."""
    convert: Callable[[Record, FeverPages], Iterator[Fields]]
    """The rows of ours for one of its rows; usually one. Raises InputError."""
    where: str
    """How to get it."""


def _labelled(name: str, claim: str, source: str, fine: str, group: str | None = None) -> Iterator[Fields]:
    label = "Attributable" if fine == "entailment" else "Not Attributable"
    found = {"id": name, "claim": claim, "source": source, "label": label, "fine_label": fine}
    yield found | ({"group": group} if group else {})


_ANLI = {"e": "entailment", "n": "neutral", "c": "contradiction", 0: "entailment", 1: "neutral", 2: "contradiction"}


def _anli(record: Record, pages: FeverPages) -> Iterator[Fields]:
    """The authors' files have context and label e, n or c; the hub's have premise and 0, 1 or 2."""
    source = text_of(record, "context" if "context" in record else "premise")
    fine = _ANLI.get(cast("Any", record.get("label")))
    if fine is None:
        raise InputError(f'"label" must be one of e, n, c, 0, 1 or 2, got {shown_json(record.get("label"))}')
    return _labelled(str(record["uid"]), text_of(record, "hypothesis"), source, fine)


_FEVER = {"SUPPORTS": "entailment", "REFUTES": "contradiction", "NOT ENOUGH INFO": "neutral"}


def _fever_label(record: Record) -> str:
    fine = _FEVER.get(str(record.get("label")))
    if fine is None:
        raise InputError(f'"label" must be one of {", ".join(_FEVER)}, got {shown_json(record.get("label"))}')
    return fine


def _fever_pairs(record: Record, pages: FeverPages) -> Iterator[Fields]:
    """FEVER as pairs (Nie et al. 2019): the text of the evidence is in the row."""
    name = str(record.get("fid", record["cid"]))
    return _labelled(name, text_of(record, "query"), text_of(record, "context"), _fever_label(record))


def _fever(record: Record, pages: FeverPages) -> Iterator[Fields]:
    """FEVER's own rows: evidence is named by page and sentence, so the pages are needed."""
    fine = _fever_label(record)
    if fine != "neutral" and not pages:
        raise InputError("the evidence is named by page only: pass --pages FOLDER with the wiki-pages of FEVER")
    for row in fever_row(record, str(record["id"]), pages=pages):
        yield from _labelled(row.id, row.text, "\n\n".join(row.sources), fine)


def _instruction(record: Record, pages: FeverPages) -> Iterator[Fields]:
    """Nemotron's rows: turns of a conversation, and the rules by which a response can be judged exactly."""
    inner = record.get("responses_create_params")
    given = cast("Record", inner).get("input") if isinstance(inner, Mapping) else record.get("input")
    turns: list[Any] = (
        [{"role": "user", "content": given}] if isinstance(given, str) else cast("list[Any]", given or [])
    )
    args: Any = record.get("args") or record
    args = parse_json(args) if isinstance(args, str) else args
    made: Fields = {"instruction": conversation_text([turn for turn in turns if turn.get("role") != "system"])}
    if len(turns) == 1:
        made["instruction"] = str(turns[0]["content"]).strip()
    rules, values = args.get("instruction_id_list"), args.get("kwargs", args.get("instruction_kwargs"))
    if rules:
        given_values = cast("list[Fields | None]", values or [{}] * len(rules))
        made |= {"instruction_id_list": rules, "kwargs": [one or {} for one in given_values]}
    name = record.get("id", record.get("uuid"))
    yield ({"id": str(name)} if name is not None else {}) | made


def _multihop(record: Record, pages: FeverPages) -> Iterator[Fields]:
    row = multihop_row(record)
    sources = [{"id": one.id, "title": one.title, "text": one.text} for one in row.passages]
    yield {"id": row.id, "question": row.question, "sources": sources, "answers": [*row.answers]}


def _bioasq(record: Record, pages: FeverPages) -> Iterator[Fields]:
    """A question of BioASQ, task B: its snippets, joined by document, are the sources."""
    by_document: dict[str, list[str]] = {}
    for snippet in cast("list[Record]", record["snippets"]):
        by_document.setdefault(str(snippet["document"]), []).append(text_of(snippet, "text"))
    if not by_document:
        raise InputError("the question has no snippets, so there is no text to answer from")
    exact: Any = record.get("exact_answer") or record.get("ideal_answer") or []
    flat = [exact] if isinstance(exact, str) else [one if isinstance(one, str) else one[0] for one in exact]
    sources = [
        {"id": url.rstrip("/").rpartition("/")[2], "url": url, "text": "\n".join(texts)}
        for url, texts in by_document.items()
    ]
    yield {"id": str(record["id"]), "question": text_of(record, "body"), "sources": sources, "answers": flat}


_FEVER_AT = "fever.ai/dataset/fever.html: train.jsonl, and wiki-pages.zip for --pages"
SETS: tuple[TrainingSet, ...] = (
    TrainingSet(
        "ANLI",
        ("uid", "hypothesis", "label"),
        _anli,
        "github.com/facebookresearch/anli (anli_v1.0.zip), or hf:facebook/anli:train_r1",
    ),
    TrainingSet(
        "FEVER, as pairs",
        ("cid", "query", "context", "label"),
        _fever_pairs,
        "github.com/easonnie/combine-FEVER-NSMN (nli_fever.zip)",
    ),
    TrainingSet("FEVER", ("claim", "evidence", "verifiable", "label"), _fever, _FEVER_AT),
    TrainingSet(
        "Nemotron instructions",
        ("input",),
        _instruction,
        "hf:nvidia/Llama-Nemotron-Post-Training-Dataset (RL/instruction_following)",
    ),
    TrainingSet(
        "Nemotron instructions (NeMo Gym)",
        ("responses_create_params",),
        _instruction,
        "hf:nvidia/Nemotron-RL-instruction_following",
    ),
    TrainingSet(
        "HotpotQA or 2WikiMultihopQA",
        ("question", "context", "supporting_facts"),
        _multihop,
        "hotpotqa.github.io; github.com/Alab-NII/2wikimultihop (data_ids_april7.zip)",
    ),
    TrainingSet(
        "MuSiQue",
        ("question", "paragraphs"),
        _multihop,
        "github.com/StonyBrookNLP/musique (musique_ans_v1.0_train.jsonl)",
    ),
    TrainingSet(
        "BioASQ", ("body", "snippets"), _bioasq, "participants-area.bioasq.org, after registration (training*b.json)"
    ),
)
"""In the order in which they are tried."""


def set_of(fields: Mapping[str, Any]) -> TrainingSet | None:
    """The set that a row is of, by its fields; None for an unknown one.

    >>> set_of({"uid": "1", "context": "It opened in 1973.", "hypothesis": "It is open.", "label": "e"}).name
    'ANLI'
    """
    return next((one for one in SETS if all(fields.get(need) is not None for need in one.needs)), None)


def training_rows(one: TrainingSet, fields: Mapping[str, Any], pages: FeverPages | None = None) -> list[Fields]:
    """The rows of ours for a row of a set. Raises InputError for a row that its authors would not write.

    >>> row = {"uid": "1", "context": "It opened in 1973.", "hypothesis": "It opened in 1937.", "label": "c"}
    >>> training_rows(set_of(row), row)[0]["fine_label"]
    'contradiction'
    """
    try:
        return [*one.convert(fields, pages or {})]
    except InputError as error:
        raise InputError(f"{one.name}: {error}") from None
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        raise InputError(
            f"{one.name}: a field has another form than in the published files ({type(error).__name__}: {error}); get "
            f"the set from {one.where}"
        ) from None


def convert(fields: Fields, pages: FeverPages | None = None) -> tuple[str, list[Fields]]:
    """How a row is read, in words, and the rows of ours for it: rows of other tools, of training sets, and our own.

    Raises InputError for an unknown form, with the fields that are there and those that are needed.
    """
    known = set_of(fields) if shape_of(fields) is None and not is_ours(fields) else None
    if known is not None:
        return f"{known.name}: from {', '.join(known.needs)}", training_rows(known, fields, pages)
    return understood(fields), [as_row(fields, strict=True)]


@dataclass(frozen=True, slots=True)
class Converted:
    """What became of one row."""

    how: str = ""
    """How it was read, in words."""
    rows: tuple[Fields, ...] = ()
    problem: str = ""
    """File, place and reason, where it cannot be used."""


def converted_rows(path: str, pages: Path | None = None, limit: int | None = None) -> Iterator[Converted]:
    """The rows of a file or a data set of the hub, one by one, at most ``limit``.

    Raises InputError if the file or ``pages`` cannot be read.
    """
    texts = read_pages(pages, path) if pages else None
    with open_rows(path) as reader:
        for row in islice(reader, limit):
            try:
                how, made = convert(fields_of(row), texts)
                yield Converted(how, tuple(made))
            except InputError as error:
                yield Converted(problem=f"{reader.name}, {row.place}: {error}")


def read_pages(folder: Path, claims: str) -> FeverPages:
    """The pages that FEVER's claims cite, from the files of wiki-pages. Raises InputError without such files."""
    files = sorted(folder.glob("wiki-*.jsonl"))
    if not files:
        raise InputError(f"{folder} has no wiki-*.jsonl: unpack wiki-pages.zip of FEVER there")
    return fever_pages(Path(claims), files)
