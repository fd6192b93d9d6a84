"""A real model, SmolLM2-135M-Instruct, on llama.cpp: each method once, a batch with a resume, the proxy, Ctrl-C.

The model is tiny, so the tests ask whether replies come, are read and are kept, and not whether they are right.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.models.real_llama import llama_server, smollm2
from tests.serve.upstream import proxy_before

WEIGHTS = smollm2()
SOURCE = "The Hollow Bay bridge opened to traffic on 14 May 1973. It has two towers."
CLAIMS = ("It opened in 1973.", "It has three towers.", "It is in Norway.", "It has two towers.", "It opened in May.")


@pytest.fixture(scope="module")
def model() -> Iterator[str]:
    with llama_server(WEIGHTS) as name:
        yield name


def vouch(*words: str | Path) -> list[str]:
    return [sys.executable, "-m", "vouching", *map(str, words)]


def ended(*words: str | Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(vouch(*words), capture_output=True, text=True, timeout=900, check=False)


def rows_in(folder: Path) -> Path:
    path = folder / "rows.jsonl"
    rows = ({"id": str(n), "claim": claim, "source": SOURCE} for n, claim in enumerate(CLAIMS))
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")
    return path


def interrupted(process: subprocess.Popen[str]) -> tuple[int, str]:
    process.send_signal(signal.SIGINT)
    _, messages = process.communicate(timeout=120)
    return process.returncode, messages


def test_every_method_gets_a_reply_and_the_server_is_seen_as_it_is(model: str) -> None:
    done = ended("models", "test", model, "--json")
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    server = found["server"]
    assert (server["context"], server["slots"]) == (4096, 2)
    assert (server["schema"], server["logprobs"], server["system"], server["refused"]) == (True, True, True, [])
    # The server keeps the model to the schema, so that every label can be read.
    assert found["claims"]["readable"] == 10
    for name, trial in found["methods"].items():
        assert trial["calls"] > 0, name
        assert trial["completion_tokens"] > 0, name
    assert all(found["methods"][name]["readable"] for name in ("checklist", "holistic", "generative"))


def test_a_batch_that_is_interrupted_keeps_what_was_answered_and_resumes(model: str, tmp_path: Path) -> None:
    rows, output = rows_in(tmp_path), tmp_path / "out.jsonl"
    words = ["check", "--input", rows, "--output", output, "--model", model, "--method", "label"]
    process = subprocess.Popen(vouch(*words), stderr=subprocess.PIPE, text=True)
    end = time.monotonic() + 300
    while (not output.exists() or output.read_text("utf-8").count("\n") < 2) and time.monotonic() < end:
        time.sleep(0.05)
    status, messages = interrupted(process)
    assert status == 130, messages
    before = output.read_text("utf-8").splitlines()
    assert len(before) >= 2
    done = ended(*words, "--resume")
    assert done.returncode == 0, done.stderr
    after = output.read_text("utf-8").splitlines()
    assert after[: len(before)] == before
    assert [json.loads(line)["claim"]["id"] for line in after] == [str(n) for n in range(len(CLAIMS))]
    assert {json.loads(line)["kind"] for line in after} == {"verdict"}


def test_the_proxy_passes_a_reply_on_with_its_verdict(model: str) -> None:
    with proxy_before(model.partition("#")[0], documents=("user",)) as proxy:
        asked = {
            "model": "smollm2",
            "max_tokens": 40,
            "temperature": 0,
            "messages": [{"role": "user", "content": f"{SOURCE}\n\nWhen did the bridge open?"}],
        }
        answer = httpx2.post(f"{proxy}/chat/completions", json=asked, timeout=300).json()
    assert answer["choices"][0]["message"]["content"].strip()
    assert answer["usage"]["completion_tokens"] > 0
    assert answer["vouch"]["outcome"] in {"passed", "failed", "unverified"}


def test_a_gguf_file_is_a_model_in_this_process() -> None:
    name = f"local:{WEIGHTS}"
    done = ended("check", CLAIMS[0], "--source-text", SOURCE, "--model", name, "--method", "label", "--json")
    assert done.returncode == 0, done.stderr
    verdict = json.loads(done.stdout)
    assert verdict["provenance"]["model"] == name
    assert verdict["usage"]["completion_tokens"] > 0


def test_an_interrupt_while_a_gguf_file_computes_ends_with_130() -> None:
    words = ["check", CLAIMS[1], "--source-text", SOURCE * 40, "--model", f"local:{WEIGHTS}"]
    with subprocess.Popen(vouch(*words), stderr=subprocess.PIPE, text=True) as process:
        time.sleep(8)
        assert process.poll() is None, process.stderr and process.stderr.read()
        status, messages = interrupted(process)
    assert (status, messages) == (130, "")


def test_a_file_that_is_no_model_is_refused(tmp_path: Path) -> None:
    wrong = tmp_path / "wrong.gguf"
    for content, told in ((b"GGUF" + os.urandom(1000), f"llama.cpp cannot load {wrong}"), (b"abcd", "is no GGUF file")):
        wrong.write_bytes(content)
        done = ended("check", CLAIMS[0], "--source-text", SOURCE, "--model", f"local:{wrong}")
        assert done.returncode == 2, done.stderr
        assert told in done.stderr.splitlines()[-1]
