"""Known answers: what counts as the same question, several processes with one file, files that are none."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
import warnings
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.models.fault_server import Answer, FaultServer
from vouching.errors import ConfigError, ModelUnavailableError
from vouching.models import Completion, Message, Sampling, ScriptedModel, Tool, cache
from vouching.models.cache import Cached, CacheWarning
from vouching.models.record import request_key
from vouching.types import Usage

ASK = (Message("system", "Be brief."), Message("user", "Is it?"))
BASE = Sampling(stop=("a",), json_schema={"type": "object"}, extra={"min_p": 0.1})
OTHERS: dict[str, Any] = {
    "max_tokens": 7,
    "temperature": 0.5,
    "top_p": 0.5,
    "n": 2,
    "seed": 0,
    "stop": ("b",),
    "json_schema": {"type": "array"},
    "logprobs": True,
    "top_logprobs": 5,
    "tools": (Tool("look", "Looks.", {"type": "object"}),),
    "extra": {"min_p": 0.2},
}


def answers(
    path: Path, script: ScriptedModel, *samplings: Sampling, max_bytes: int | None = None
) -> list[list[Completion]]:
    async def main() -> list[list[Completion]]:
        model = Cached(script, path, max_bytes=max_bytes)
        said = [await model.generate(ASK, sampling) for sampling in samplings]
        await model.aclose()
        return said

    return asyncio.run(main())


def test_a_known_answer_comes_back_whole_and_costs_nothing(tmp_path: Path) -> None:
    script = ScriptedModel(["Yes it is.", "No."])
    sampling = Sampling(n=2, max_tokens=2)
    [first] = answers(tmp_path / "answers.sqlite", script, sampling)
    [second] = answers(tmp_path / "answers.sqlite", script, sampling)
    assert [(one.text, one.finish_reason) for one in first] == [("Yes it", "length"), ("No.", "stop")]
    assert second == [replace(one, usage=Usage()) for one in first]
    assert len(script.asked) == 1


def test_every_setting_and_the_model_and_the_messages_tell_requests_apart() -> None:
    assert OTHERS.keys() == set(Sampling.__slots__)
    samplings = [BASE, *(replace(BASE, **{name: value}) for name, value in OTHERS.items())]
    keys = {request_key("m", ASK, sampling) for sampling in samplings}
    keys |= {request_key("other", ASK, BASE), request_key("m", ASK[1:], BASE), request_key("m", ASK[::-1], BASE)}
    keys.add(request_key("m", (replace(ASK[0], role="user"), ASK[1]), BASE))
    assert len(keys) == len(samplings) + 4


def test_the_order_of_keys_does_not_tell_requests_apart() -> None:
    one, other = ({"a": 1, "b": 2}, {"b": 2, "a": 1})
    assert request_key("m", ASK, Sampling(extra=one)) == request_key("m", ASK, Sampling(extra=other))


def test_settings_that_are_no_json_are_refused() -> None:
    with pytest.raises(ConfigError, match="must be valid JSON"):
        request_key("m", ASK, Sampling(extra={"a": object()}))


def test_a_failure_is_not_kept(tmp_path: Path) -> None:
    script = ScriptedModel([ModelUnavailableError("busy"), "Yes."])
    with pytest.raises(ModelUnavailableError):
        answers(tmp_path / "answers.sqlite", script, Sampling())
    assert answers(tmp_path / "answers.sqlite", script, Sampling())[0][0].text == "Yes."


PROGRAM = """
import asyncio, sys
from vouching.models import Message, Sampling, ScriptedModel
from vouching.models.cache import Cached

async def main():
    script = ScriptedModel(lambda messages, sampling: f"answer to {sampling.seed}")
    model = Cached(script, sys.argv[1])
    ask = [Message("system", "Be brief."), Message("user", "Is it?")]
    said = await asyncio.gather(*(model.generate(ask, Sampling(seed=seed)) for seed in range(200)))
    assert [one.text for [one] in said] == [f"answer to {seed}" for seed in range(200)]
    await model.aclose()

asyncio.run(main())
"""


def test_two_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    command = [sys.executable, "-c", PROGRAM, str(path)]
    running = [
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment)
        for _ in range(2)
    ]
    ended = [(process.communicate(timeout=300), process.returncode) for process in running]
    assert [status for _, status in ended] == [0, 0], ended
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT COUNT(*) FROM answers").fetchone() == (200,)
    known = [[Completion(f"answer to {seed}", "stop", Usage())] for seed in range(200)]
    assert answers(path, ScriptedModel([]), *(Sampling(seed=seed) for seed in range(200))) == known


def test_a_file_that_is_no_cache_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "notes.txt"
    text.write_text("These are notes, longer than the header of a database. " * 20, encoding="utf-8")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as file:
        file.execute("CREATE TABLE answers (question TEXT)")
    for path in (text, other, tmp_path, tmp_path / "no" / "such.sqlite"):
        with pytest.raises(ConfigError, match="cannot be used as a cache"):
            Cached(ScriptedModel([]), path)


def test_a_cache_that_was_closed_opens_again(tmp_path: Path) -> None:
    model = Cached(ScriptedModel(["Yes.", "No."]), tmp_path / "answers.sqlite")
    for seed, said in ((1, "Yes."), (1, "Yes."), (2, "No.")):
        assert asyncio.run(model.generate(ASK, Sampling(seed=seed)))[0].text == said
        asyncio.run(model.aclose())
    asyncio.run(model.aclose())


@pytest.mark.parametrize("damage", ["", "not json", "{}", "[]", "null", '[{"text": "Yes."}]', "7", "[1]"])
def test_a_damaged_entry_is_asked_anew_and_replaced(tmp_path: Path, damage: str) -> None:
    path = tmp_path / "answers.sqlite"
    answers(path, ScriptedModel(["Yes."]), Sampling())
    with sqlite3.connect(path) as file:
        file.execute("UPDATE answers SET completions = ?", (damage,))
    assert answers(path, ScriptedModel(["No."]), Sampling())[0][0].text == "No."
    assert answers(path, ScriptedModel([]), Sampling())[0][0].text == "No."


def test_of_two_answers_to_one_question_the_first_stays(tmp_path: Path) -> None:
    async def main() -> list[str]:
        model = Cached(ScriptedModel(["Yes.", "No."]), tmp_path / "answers.sqlite")
        at_once = await asyncio.gather(*(model.generate(ASK, Sampling()) for _ in range(2)))
        later = await model.generate(ASK, Sampling())
        await model.aclose()
        return [said[0].text for said in (*at_once, later)]

    assert asyncio.run(main()) == ["Yes.", "No.", "Yes."]


LIMIT = 400_000


def fill(path: Path, seeds: Iterable[int], max_bytes: int | None = LIMIT) -> None:
    """Ask for answers of 1,000 to 2,000 bytes, no two alike; each takes at most a page of 4,096."""

    async def main() -> None:
        model = Cached(ScriptedModel(lambda _, sampling: f"{sampling.seed} " * 500), path, max_bytes=max_bytes)
        for seed in seeds:
            await model.generate(ASK, Sampling(seed=seed))
        await model.aclose()

    asyncio.run(main())


def cached_seeds(path: Path) -> list[int]:
    seeds = {request_key("scripted", ASK, Sampling(seed=seed)): seed for seed in range(1000)}
    with sqlite3.connect(path) as file:
        return sorted(seeds[key] for (key,) in file.execute("SELECT key FROM answers"))


def test_a_full_cache_evicts_what_was_not_used_for_longest(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, range(50))
    assert cached_seeds(path) == [*range(50)]
    with sqlite3.connect(path) as file:
        file.execute("UPDATE answers SET used = 1")
    fill(path, [7])  # a use
    fill(path, range(100, 170))
    left = cached_seeds(path)
    assert 7 in left
    assert {*range(100, 170)} <= {*left}
    assert len(left) < 110
    assert max({*range(50)} - {*left}) < min({*left} - {7})  # of equal times the first to be written goes first
    assert path.stat().st_size <= LIMIT + 50_000  # what one more answer takes before others are evicted


def test_uses_within_a_minute_decide_what_is_evicted(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, [*range(50), *range(10), *range(100, 170)])
    left = {*cached_seeds(path)}
    assert {*range(10)} <= left
    assert len({*range(10, 50)} & left) < 40
    fill(path, range(5))  # noted when the cache is closed
    fill(path, range(200, 270))
    assert {*range(5)} <= {*cached_seeds(path)}
    assert not {*range(5, 50)} & {*cached_seeds(path)}


def test_two_processes_that_fill_a_cache_keep_it_within_its_size(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    program = "import sys; from pathlib import Path; from tests.models.test_record_cache import fill; "
    program += "fill(Path(sys.argv[1]), range(int(sys.argv[2]), int(sys.argv[2]) + 150))"
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(place for place in sys.path if place)}
    running = [
        subprocess.Popen([sys.executable, "-c", program, str(path), start], stderr=subprocess.PIPE, env=environment)
        for start in ("0", "500")
    ]
    complaints = [process.communicate(timeout=300)[1] for process in running]
    assert complaints == [b"", b""]
    left = cached_seeds(path)
    assert LIMIT // 6000 <= len(left) <= LIMIT // 1000
    assert {149, 649} & {*left}  # what was asked last
    assert path.stat().st_size <= LIMIT + 50_000
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


def test_an_answer_that_is_larger_than_the_cache_is_given_and_not_kept(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, [1], max_bytes=1)
    assert cached_seeds(path) == []
    with pytest.raises(ConfigError, match="max_bytes must be at least 1, got 0"):
        Cached(ScriptedModel([]), path, max_bytes=0)


def test_an_answer_that_is_larger_than_the_cache_evicts_no_other(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, range(20))
    [[said]] = answers(path, ScriptedModel(["word " * 100_000]), Sampling(seed=500, max_tokens=10**6), max_bytes=LIMIT)
    assert len(said.text) > LIMIT
    assert cached_seeds(path) == [*range(20)]


@pytest.mark.parametrize(
    "table",
    [
        "answers (question TEXT)",
        "answers (key TEXT, completions TEXT)",
        "answers (key TEXT PRIMARY KEY, completions TEXT, mine TEXT)",
        "notes (line TEXT)",
    ],
)
def test_a_file_of_another_program_is_refused_and_stays_as_it_is(tmp_path: Path, table: str) -> None:
    path = tmp_path / "other.sqlite"
    with sqlite3.connect(path) as file:
        file.execute(f"CREATE TABLE {table}")
    file.close()
    before = path.read_bytes()
    with pytest.raises(ConfigError, match=r'expected a table "answers" with .*choose a new file'):
        Cached(ScriptedModel([]), path)
    assert path.read_bytes() == before
    assert [*tmp_path.iterdir()] == [path]


def warned(path: Path, seeds: Iterable[int], max_bytes: int | None) -> list[str]:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        fill(path, seeds, max_bytes)
    return [str(one.message) for one in found if one.category is CacheWarning]


def test_a_file_above_its_limit_is_warned_of_once_before_anything_is_evicted(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, range(60))
    [warning] = warned(path, [0], 100_000)  # a known answer: nothing is evicted yet
    assert cached_seeds(path) == [*range(60)]
    assert f"{path} has 0." in warning
    assert "more than its limit of 0.1 MiB" in warning
    assert "set VOUCH_CACHE_MB" in warning
    assert warned(path, [100], 100_000) == []
    assert 1 < len(cached_seeds(path)) < 60


def test_a_cache_that_grows_to_the_default_limit_is_warned_of_and_one_of_a_chosen_size_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache, "MAX_BYTES", 100_000)
    assert len(warned(tmp_path / "default.sqlite", range(60), None)) == 1
    assert warned(tmp_path / "chosen.sqlite", range(60), 100_000) == []
    for name in ("default", "chosen"):
        assert 0 < len(cached_seeds(tmp_path / f"{name}.sqlite")) < 50


def test_a_larger_file_of_an_earlier_version_keeps_its_size(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, range(100, 160))
    with sqlite3.connect(path) as file:
        file.execute("DROP INDEX answers_used")
        file.execute("ALTER TABLE answers DROP COLUMN used")
    monkeypatch.setattr(cache, "MAX_BYTES", 100_000)
    assert warned(path, [100], None) == []  # the size is noted
    size = path.stat().st_size
    [warning] = warned(path, range(200, 260), None)
    assert "its limit of 0." in warning
    assert len(cached_seeds(path)) >= 50
    assert path.stat().st_size <= size + 50_000
    fill(path, [300], max_bytes=100_000)  # a size that is given has priority
    assert len(cached_seeds(path)) < 50


def test_the_command_line_shows_the_warning_as_one_line(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, range(10), max_bytes=5 << 20)
    with sqlite3.connect(path) as file:
        file.execute("INSERT INTO answers VALUES ('long', ?, 0)", ("x" * (2 << 20),))
    source = tmp_path / "source.txt"
    source.write_text("The bridge opened in 1937.", encoding="utf-8")
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join(place for place in sys.path if place),
        "VOUCH_CACHE": str(path),
        "VOUCH_CACHE_MB": "1",
    }

    async def main() -> list[str]:
        async with FaultServer([Answer(401)]) as server:
            command = [sys.executable, "-m", "vouching", "check", "It opened in 1937.", "--source", str(source)]
            command += ["--model", f"{server.url}#m"]
            process = await asyncio.create_subprocess_exec(*command, stderr=subprocess.PIPE, env=environment)
            return (await process.communicate())[1].decode().splitlines()

    lines = asyncio.run(main())
    found = [line for line in lines if "VOUCH_CACHE_MB" in line]
    assert len(found) == 1, lines
    assert found[0].startswith(f"vouch: warning: the cache {path} has 2.")


def test_a_cache_of_an_earlier_version_is_used(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    answers(path, ScriptedModel(["Yes."]), Sampling())
    with sqlite3.connect(path) as file:
        file.execute("DROP INDEX answers_used")
        file.execute("ALTER TABLE answers DROP COLUMN used")
    assert answers(path, ScriptedModel(["No."]), Sampling(), Sampling(seed=1))[0][0].text == "Yes."


def test_a_later_use_by_another_process_stays(tmp_path: Path) -> None:
    path = tmp_path / "answers.sqlite"
    fill(path, [7])
    model = Cached(ScriptedModel([]), path)
    asyncio.run(model.generate(ASK, Sampling(seed=7)))
    with sqlite3.connect(path) as file:
        file.execute("UPDATE answers SET used = 1e12")
    asyncio.run(model.aclose())
    with sqlite3.connect(path) as file:
        assert file.execute("SELECT used FROM answers").fetchone() == (10**12,)
