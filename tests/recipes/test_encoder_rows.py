"""What rows say to the trainer, and that what is held out shares nothing with what is trained on."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from recipes.encoder.batches import batch_of, encode_row, encode_units, order_of_batches
from recipes.encoder.rows import SUPPORTED, TrainingRow, Unit, hold_out, read_sets, row_weights, unit_of
from recipes.encoder.settings import EncoderConfig
from vouching.encoder.tokens import PairTokenizer
from vouching.encoder.weights import Limits
from vouching.errors import ConfigError, InputError
from vouching.perturb.records import Perturbation, to_json
from vouching.settings import read_settings
from vouching.types import Span
from vouching.types.spans import ERROR_TYPES

TOKENIZER = PairTokenizer(Path(__file__).parents[1] / "data/tiny_encoder/tokenizer.json")
LIMITS = Limits(48, 20, 2)
RECIPES = Path(__file__).parents[2] / "recipes/encoder"


def record(label: str = "Not Attributable", **more: Any) -> dict[str, Any]:
    return {"claim": "It opened in 1937.", "source": "It opened in 1973.", "label": label, **more}


@pytest.mark.parametrize(
    ("fine", "relations"),
    [
        ("contradiction", (1,)),
        ("neutral", (2,)),
        ("irrelevant", (2,)),
        ("refute", (1,)),
        ("not_entailment", (1, 2)),
        ("partially_supported", (1, 2)),
        (None, (1, 2)),
    ],
)
def test_a_fine_label_says_which_relations_a_row_allows(fine: str | None, relations: tuple[int, ...]) -> None:
    [row] = unit_of(record(fine_label=fine), "nli/x")
    assert row.relations == relations


def test_a_perturbation_as_it_is_written_is_a_pair_with_its_changed_span_and_error_type() -> None:
    made = Perturbation(
        "It opened in 1937.",
        "It opened in 1973.",
        "It opened in 1973.",
        (Span("1937", 13, 17),),
        "date_shift",
        "r-1",
        "r",
    )
    before, after = unit_of(json.loads(to_json(made)), "pairs/x")
    assert (before.claim, before.relations, before.unsupported) == ("It opened in 1973.", SUPPORTED, ())
    assert (after.claim, after.relations, after.unsupported) == ("It opened in 1937.", (1, 2), ((13, 17),))
    assert ERROR_TYPES[after.error_type] == "temporal_shift"


def test_a_changed_source_makes_a_pair_that_differs_in_the_source_alone() -> None:
    record = {
        "claim": "It opened in 1937.",
        "label": "Not Attributable",
        "fine_label": "neutral",
        "original_source": "The bridge opened in 1937.",
        "source": "The bridge is old.",
    }
    before, after = unit_of(record, "pairs/cut")
    assert (before.claim, before.source, before.relations) == (after.claim, record["original_source"], SUPPORTED)
    assert (after.source, after.relations) == ("The bridge is old.", (2,))
    assert before.unsupported is None  # which words of the claim lost their support is not known
    assert after.unsupported is None


def test_a_perturbation_that_keeps_the_meaning_is_one_supported_row() -> None:
    made = Perturbation(
        "It has 1,200 seats.", "It has 1200 seats.", "It has 1200 seats.", (Span("1,200", 7, 12),), "number_format"
    )
    [row] = unit_of(json.loads(to_json(made)), "pairs/x")
    assert row.attributable


def test_marked_tokens_become_stretches_of_the_claim() -> None:
    marks = {
        "claim_tokens": ["It", "opened", "in", "1937", "."],
        "non_supported_spans": [False, False, True, True, False],
    }
    [row] = unit_of(record(**marks), "train/wice_spans")
    assert row.unsupported == ((10, 12), (13, 17))


def test_a_broken_row_is_named_with_its_place(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "a.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps(record()) + '\n{"claim": "x"}\n')
    with pytest.raises(InputError, match=r"a\.jsonl\.gz, line 2"):
        read_sets([tmp_path], {}, 10, 0)


def test_a_folder_without_sets_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"contains no \*\.jsonl\.gz file"):
        read_sets([tmp_path], {}, 10, 0)


KEYS = st.integers(0, 30)


@given(st.lists(st.tuples(KEYS, KEYS, st.booleans()), min_size=1, max_size=120), st.integers(1, 20))
def test_nothing_held_out_shares_a_claim_or_a_source_with_what_is_trained_on(
    keys: list[tuple[int, int, bool]], rows: int
) -> None:
    units: list[Unit] = [
        (
            TrainingRow(
                "train/a", f"Claim {c}.", f"Source number {s} says something long enough to tell.", (0,) if y else (2,)
            ),
        )
        for c, s, y in keys
    ]
    train, held = hold_out({"train/a": units}, rows, 0)
    assert len(train) + len(held) == len(units)
    assert len(held) <= min(rows, len(units) // 10)
    for field in ("claim", "source"):
        assert not {getattr(u[0], field) for u in train} & {getattr(u[0], field) for u in held}


def test_rows_without_a_neighbour_are_held_out_as_many_as_wanted() -> None:
    units: list[Unit] = [(TrainingRow("nli/a", f"Claim {i}.", f"Source {i}.", SUPPORTED),) for i in range(200)]
    train, held = hold_out({"nli/a": units}, 15, 0)
    assert (len(train), len(held)) == (185, 15)


def test_both_labels_of_a_set_count_alike_and_the_set_for_its_share() -> None:
    rows: list[Unit] = [(TrainingRow("nli/a", "c", "s", SUPPORTED if i < 3 else (2,)),) for i in range(12)]
    weights = row_weights(rows, {"a": 0.5})
    # 12 rows times .5 in all, half of it for each label: 3 of 1.0 and 9 of 1/3.
    assert weights == pytest.approx([1.0] * 3 + [1 / 3] * 9)


def test_tokens_in_an_unsupported_stretch_are_marked_and_the_rest_is_supported() -> None:
    row = TrainingRow("train/a", "it opened in 1937", "it opened in 1973", (1, 2), ((13, 17),))
    encoded = encode_row(row, TOKENIZER, LIMITS)
    # "it", "opened", "in", and the year in the four pieces 1, ##9, ##3, ##7
    assert encoded.support.tolist() == [1, 1, 1, 0, 0, 0, 0]
    assert encode_row(TrainingRow("t/a", "it opened", "s", (2,)), TOKENIZER, LIMITS).support.tolist() == [-1, -1]


@given(st.lists(st.integers(1, 60), min_size=1, max_size=80), st.integers(20, 200), st.integers(0, 3))
def test_every_unit_is_in_one_batch_of_an_epoch_and_batches_keep_to_the_budget(
    lengths: list[int], budget: int, epoch: int
) -> None:
    rows: list[Unit] = [(TrainingRow("nli/a", "it", "the " * n, SUPPORTED),) for n in lengths]
    units = encode_units(rows, [1.0] * len(rows), TOKENIZER, LIMITS)
    batches = order_of_batches(units, budget, 0, epoch)
    assert sorted(i for batch in batches for i in batch) == list(range(len(units)))
    for batch in batches:
        tokens = sum(units[i].windows for i in batch) * max(units[i].longest for i in batch)
        assert tokens <= budget or len(batch) == 1
    assert batches == order_of_batches(units, budget, 0, epoch)


def test_a_batch_lays_rows_windows_and_pairs_out() -> None:
    single = TrainingRow("t/a", "it opened", "the old city. " * 12, SUPPORTED)
    pair = (TrainingRow("t/a", "it opened", "the city", SUPPORTED), TrainingRow("t/a", "it was not", "the city", (1,)))
    units = encode_units([(single,), pair], [0.5, 2.0], TOKENIZER, LIMITS)
    batch = batch_of(units, TOKENIZER.pad)
    assert [len(row.windows) for unit in units for row in unit.rows] == [2, 1, 1]
    assert batch.windows.tolist() == [[0, 1], [2, 2], [3, 3]]
    assert batch.pairs.tolist() == [[1, 2]]
    assert batch.weight.tolist() == [0.5, 2.0, 2.0]
    assert batch.allowed.tolist() == [[True, False, False], [True, False, False], [False, True, False]]
    ids, types, mask = (batch.inputs[name] for name in ("input_ids", "token_type_ids", "attention_mask"))
    assert ((ids == TOKENIZER.pad) == (mask == 0)).all()
    # [CLS] it opened [SEP] is of type 0, what follows of type 1
    assert types[0, :5].tolist() == [0, 0, 0, 0, 1]
    assert np.array_equal(types[2], [0, 0, 0, 0, 1, 1, 1] + [0] * (ids.shape[1] - 7))


def test_a_share_or_number_of_rows_for_a_set_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    with gzip.open(tmp_path / "one.jsonl.gz", "wt", encoding="utf-8") as file:
        file.write(json.dumps({"id": "1", **record()}) + "\n")
    assert list(read_sets([tmp_path], {"one": 0.5}, 10, 0, {"one": 3})) == [f"{tmp_path.name}/one"]
    for shares, rows in (({"on": 0.5}, {}), ({}, {"on": 3})):
        with pytest.raises(InputError, match="unknown set 'on' in shares or rows; expected a set in "):
            read_sets([tmp_path], shares, 10, 0, rows)


@pytest.mark.parametrize(
    "name", ["nli.toml", "attribution.toml", "base.toml", "contrast.toml", "mixture.toml", "sources.toml", "tiny.toml"]
)
def test_the_settings_of_every_recipe_are_valid(name: str) -> None:
    assert read_settings(EncoderConfig, RECIPES / name) != EncoderConfig()


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("lerning_rate=1", "did you mean 'learning_rate'"),
        ("epochs", "must have the form KEY=VALUE"),
        ("epochs=0", "^epochs must be above 0"),
        ("seed=-1", "^seed must be at least 0"),
        ("stop_at=-1", "^stop_at must be at least 0"),
        ("dropout=1", "dropout must be"),
        ("shares.a=-1", "shares must be"),
        ("max_claim_tokens=127", "^max_claim_tokens must be at most .*must fit"),
        ("max_tokens=1", "^max_tokens must be at least [0-9]+, got 1: a claim"),
        ("epochs=1.5", "^epochs must be a valid integer, got 1.5$"),
        ("rows=3", "^rows must be a table, got 3: set"),
        ("device=tpu", "^device must be .*, got 'tpu'"),
        ("seed.a=1", "^seed must be"),
    ],
)
def test_a_wrong_setting_is_named(override: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_settings(EncoderConfig, RECIPES / "nli.toml", [override])


@pytest.mark.parametrize(("text", "message"), [("epochs = ", "is not valid TOML"), (None, "cannot read")])
def test_a_file_that_holds_no_settings_is_refused(tmp_path: Path, text: str | None, message: str) -> None:
    path = tmp_path / "run.toml"
    if text is not None:
        path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError, match=message):
        read_settings(EncoderConfig, path)
