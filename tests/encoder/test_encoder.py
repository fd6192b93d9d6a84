"""The encoder on a tiny model with random weights: offsets, what is read and what is not, and what is refused."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.house.source_tree import ROOT
from vouching.encoder.encoder import CPUINFO, has_vnni, load_encoder
from vouching.encoder.reading import HEAD_FEATURES, LATE_INTERACTION_FEATURES, SoftReading, features_of
from vouching.encoder.weights import find_weights
from vouching.errors import WeightsError
from vouching.types import Source

TINY = Path(__file__).parents[1] / "data/tiny_encoder"
LONG = " ".join(f"The city number {i} was built {i} years ago by the river." for i in range(60))
TEXTS = st.text(st.sampled_from("the bridge OPENED in 1973.\n\t é中[SEP]!"), max_size=200)


def read(claim: str, *texts: str) -> SoftReading:
    encoder = load_encoder(TINY)
    return encoder.read(claim, encoder.encode([Source(text, f"source-{i}") for i, text in enumerate(texts)]))


@settings(max_examples=40)
@given(TEXTS, st.lists(TEXTS, max_size=3))
def test_every_span_of_a_reading_is_the_text_at_its_offsets(claim: str, texts: list[str]) -> None:
    reading = read(claim, *texts)
    by_id = {f"source-{i}": text for i, text in enumerate(texts)}
    for match in reading.matches:
        assert claim[match.claim_span.start : match.claim_span.end] == match.claim_span.text != ""
        assert 0 <= match.support <= 1
        assert -1 <= match.similarity <= 1
    spans = [match.source_span for match in reading.matches] + list(reading.unread)
    for span in spans:
        assert by_id[span.source_id or ""][span.start : span.end] == span.text != ""
    assert sum(reading.relation.values()) == pytest.approx(1, abs=1e-5)
    assert sum(reading.error_type.values()) == pytest.approx(1, abs=1e-5)


@settings(max_examples=25)
@given(st.integers(1, 60), st.integers(0, 59))
def test_read_and_unread_text_together_are_the_whole_source(sentences: int, asked: int) -> None:
    text = " ".join(LONG.split(". ")[:sentences])
    reading = read(f"The city number {asked} was built.", text)
    assert (reading.windows_read < reading.windows) == bool(reading.unread)
    assert reading.windows_read == min(2, reading.windows)  # the tiny encoder reads two windows
    unread = {i for span in reading.unread for i in range(span.start, span.end)}
    for match in reading.matches:
        assert not unread & set(range(match.source_span.start, match.source_span.end))


def test_the_window_with_the_words_of_the_claim_is_read() -> None:
    reading = read("The city number 47 was built.", LONG)
    place = LONG.index("number 47 ")
    assert not any(span.start <= place < span.end for span in reading.unread)


def test_a_claim_is_read_the_same_alone_and_among_others() -> None:
    encoder = load_encoder(TINY)
    sources = encoder.encode([Source(LONG)])
    claims = ["The bridge is old.", "It was built by the river, 12 years ago, in the city.", ""]
    together = [encoder.read(claim, sources) for claim in claims]
    assert together == [encoder.read(claim, encoder.encode([Source(LONG)])) for claim in reversed(claims)][::-1]


@pytest.mark.parametrize("texts", [(), ("",), (" \n", "")], ids=["none", "empty", "blank"])
def test_without_a_source_to_read_the_claim_is_not_found(texts: tuple[str, ...]) -> None:
    reading = read("The bridge is old.", *texts)
    assert reading.relation == {"supported": 0.0, "contradicted": 0.0, "not_found": 1.0}
    assert (reading.matches, reading.unread, reading.windows) == ((), (), 0)


def test_a_claim_of_two_thousand_tokens_is_read_in_part_and_reports_how_far() -> None:
    claim = "the " * 2000
    reading = read(claim, "The bridge opened.")
    assert len(reading.matches) == 24  # the tiny encoder reads 24 tokens of a claim
    assert claim[: reading.claim_read] == ("the " * 24).rstrip()


def test_a_claim_that_fits_is_read_to_its_last_character() -> None:
    claim = "The bridge is old. "
    assert read(claim, "The bridge opened.").claim_read == len(claim)


@pytest.mark.parametrize("end", ["\u202c", "\u200b", "\x00", " \n", "\ufeff"])
def test_a_claim_that_ends_in_characters_without_a_token_is_read_to_its_end(end: str) -> None:
    claim = f"The bridge is old.{end}"
    assert read(claim, "The bridge opened.").claim_read == len(claim)


def test_a_source_of_a_million_tokens_is_read_in_its_best_windows() -> None:
    text = "the old bridge of the city. " * 150_000 + "It opened in 1973."
    reading = read("It opened in 1973.", text)
    assert reading.windows_read == 2
    assert reading.windows > 20_000
    assert any(match.source_span.start > len(text) - 20 for match in reading.matches)


def test_features_have_names_and_stay_in_their_range() -> None:
    for reading in (read("The bridge is old.", "The bridge was built long ago."), read("It opened.")):
        features = features_of(reading)
        assert set(features) == {*HEAD_FEATURES, *LATE_INTERACTION_FEATURES}
        assert -6 <= features.pop("supported") <= 6
        assert all(-1 <= value <= 1 for value in features.values())


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY, tmp_path / "encoder"))


def test_the_shipped_encoder_distinguishes_support_from_contradiction() -> None:
    encoder = load_encoder()
    sources = encoder.encode([Source("A man is sleeping on a bench in the park.")])
    supported, contradicted = (encoder.read(claim, sources) for claim in ("A man sleeps.", "The man is running."))
    assert supported.support > 0.5 > contradicted.support
    assert contradicted.relation["contradicted"] > contradicted.relation["supported"]


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_an_altered_file_is_refused_by_name(copy: Path, name: str) -> None:
    (copy / name).write_bytes((copy / name).read_bytes() + b" ")
    with pytest.raises(WeightsError, match=f"{name} has SHA-256"):
        load_encoder(copy)


@pytest.mark.parametrize("name", ["encoder.json", "model.onnx", "tokenizer.json"])
def test_a_missing_file_is_named(copy: Path, name: str) -> None:
    (copy / name).unlink()
    with pytest.raises(WeightsError, match=name):
        load_encoder(copy)


def test_the_advice_on_a_damaged_file_depends_on_its_owner(
    copy: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (copy / "model.onnx").unlink()
    with pytest.raises(WeightsError, match="export the encoder again"):
        find_weights(copy)
    # A package of its own with a damaged encoder in it, in the place of the installed one.
    package = tmp_path / "package/vouching/encoder"
    shutil.copytree(ROOT / "src/vouching", package.parent, ignore=shutil.ignore_patterns("model.onnx", "__pycache__"))
    code = "from vouching.encoder.weights import find_weights; find_weights()"
    monkeypatch.setenv("PYTHONPATH", str(package.parents[1]))
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert "model.onnx (No such file or directory): reinstall vouching, or use embedded:rules" in done.stderr


def rewrite(copy: Path, **changes: object) -> None:
    record = json.loads((copy / "encoder.json").read_text(encoding="utf-8"))
    (copy / "encoder.json").write_text(json.dumps(record | changes), encoding="utf-8")


def test_another_format_is_refused(copy: Path) -> None:
    rewrite(copy, format=99)
    with pytest.raises(WeightsError, match="format 99, expected 2"):
        load_encoder(copy)


def test_a_manifest_without_limits_is_refused(copy: Path) -> None:
    rewrite(copy, limits={})
    with pytest.raises(WeightsError, match='it lacks "'):
        load_encoder(copy)


def test_a_tokenizer_of_another_size_than_the_models_is_refused(copy: Path) -> None:
    rewrite(copy, vocabulary=30522)
    with pytest.raises(WeightsError, match="but the model has 30522"):
        load_encoder(copy)


def test_a_file_that_is_not_a_model_is_refused(copy: Path) -> None:
    import hashlib

    (copy / "model.onnx").write_bytes(b"not a model")
    sums = {n: hashlib.sha256((copy / n).read_bytes()).hexdigest() for n in ("model.onnx", "tokenizer.json")}
    rewrite(copy, sha256=sums)
    with pytest.raises(WeightsError, match="onnxruntime cannot load"):
        load_encoder(copy)


@pytest.mark.parametrize("module", ["onnxruntime", "tokenizers"])
def test_a_missing_package_is_named_with_its_remedy(module: str) -> None:
    code = (
        f"import sys; sys.modules[{module!r}] = None\n"
        "from pathlib import Path\nfrom vouching.encoder.encoder import load_encoder\n"
        f"load_encoder(Path({str(TINY)!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert f"the encoder needs the module {module!r}: install it with  pip install {module}\n" in done.stderr


@pytest.mark.skipif(not CPUINFO.exists(), reason="only Linux tells what the CPU has")
def test_a_cpu_has_vnni_if_linux_says_so() -> None:
    flags = CPUINFO.read_text("ascii", "replace").split()
    assert has_vnni() == ("avx512_vnni" in flags or "avx_vnni" in flags)
