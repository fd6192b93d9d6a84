"""``vouch index``: files in, passages out."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from vouching.cli.app import app
from vouching.cli.streams import Exit


def vouch(*arguments: str | Path) -> Result:
    """Run the command line in this process."""
    return CliRunner().invoke(app, [*map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a text and rows, the current one."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "mill.md").write_text("# The mill\n\nAda built the mill in 1873. It stands in Oslo.\n")
    (tmp_path / "rows.jsonl").write_text('{"id": 7, "title": "Bergen", "text": "Bergen is a rainy town."}\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_an_index_is_built_and_searched(files: Path) -> None:
    done = vouch("index", "build", "towns", "docs", "rows.jsonl")
    assert (done.exit_code, done.stdout, done.stderr) == (Exit.OK, "towns: documents 2, passages 2\n", "")
    shown = vouch("index", "search", "towns", "Who built mills?")
    assert shown.exit_code == Exit.OK
    first, *text = shown.stdout.splitlines()
    assert first.startswith("1  The mill · docs/mill.md:0-58 · score ")
    assert text == ["   # The mill", "", "   Ada built the mill in 1873. It stands in Oslo."]


def test_json_has_the_passages_with_their_places(files: Path) -> None:
    vouch("index", "build", "towns", "docs", "rows.jsonl")
    record = json.loads(vouch("index", "search", "towns", "rainy", "--json").stdout)
    [passage] = record["passages"]
    assert record["query"] == "rainy"
    assert passage["span"] == {"text": "Bergen is a rainy town.", "start": 0, "end": 23, "source_id": "rows.jsonl#7"}
    assert (passage["title"], passage["url"]) == ("Bergen", str(files / "rows.jsonl"))
    assert passage["origin"] == "index:towns"


def test_files_that_are_added_again_replace_what_they_gave_before(files: Path) -> None:
    vouch("index", "build", "towns", "docs", "rows.jsonl")
    (files / "rows.jsonl").write_text('{"id": 8, "text": "Trondheim is cold."}\n{"id": 9, "text": "Bodø is colder."}\n')
    (files / "docs" / "mill.md").write_text("The mill burnt down.")
    done = vouch("index", "add", "towns", "docs", "rows.jsonl")
    assert done.stdout == "towns: documents 3, passages 3\n"
    assert vouch("index", "search", "towns", "rainy").stdout == ""
    assert "burnt" in vouch("index", "search", "towns", "mill").stdout


def test_documents_are_removed_by_id_or_by_file(files: Path) -> None:
    vouch("index", "build", "towns", "docs", "rows.jsonl")
    done = vouch("index", "remove", "towns", "rows.jsonl", "nowhere.txt", "docs/mil.md")
    assert (done.exit_code, done.stdout) == (Exit.INCOMPLETE, "towns: documents 1, passages 1, removed documents 1\n")
    assert done.stderr.splitlines() == [
        "vouch: towns has no document 'nowhere.txt'; vouch index info towns lists the documents",
        "vouch: towns has no document 'docs/mil.md'; did you mean 'docs/mill.md'?",
    ]
    assert vouch("index", "remove", "towns", "docs/mill.md").exit_code == Exit.OK


def test_a_document_is_removed_by_any_way_to_write_its_path(files: Path) -> None:
    vouch("index", "build", "towns", "./docs", "rows.jsonl")
    assert vouch("index", "remove", "towns", "./docs/../docs/mill.md", "./rows.jsonl").exit_code == Exit.OK


def test_documents_are_removed_by_folder_or_pattern(files: Path) -> None:
    (files / "docs" / "old.txt").write_text("An old mill.")
    vouch("index", "build", "towns", "docs", "rows.jsonl")
    done = vouch("index", "remove", "towns", "docs/*.txt")
    assert (done.exit_code, done.stdout) == (Exit.OK, "towns: documents 2, passages 2, removed documents 1\n")
    done = vouch("index", "remove", "towns", "./docs/", "docs/mill.md", "docs")
    assert (done.exit_code, done.stdout) == (Exit.OK, "towns: documents 1, passages 1, removed documents 1\n")


def test_a_row_that_an_earlier_name_removed_is_not_unknown(files: Path) -> None:
    vouch("index", "build", "towns", "docs", "rows.jsonl")
    done = vouch("index", "remove", "towns", "rows.jsonl", "rows.jsonl#7", "./rows.jsonl#7")
    assert (done.exit_code, done.stderr) == (Exit.OK, "")


@pytest.mark.parametrize("pattern", ["*", ".", "./*", "?*"])
def test_a_name_for_all_documents_is_refused(files: Path, pattern: str) -> None:
    vouch("index", "build", "towns", "docs", "rows.jsonl")
    done = vouch("index", "remove", "towns", "docs", pattern)
    assert (done.exit_code, done.stdout) == (Exit.USAGE, "")
    assert f"'{pattern}' stands for all documents of towns: " in done.stderr
    assert vouch("index", "search", "towns", "mill").stdout


def test_what_cannot_be_read_is_named_and_counted(files: Path) -> None:
    (files / "docs" / "broken.pdf").write_bytes(b"%PDF-1.4 broken")
    (files / "docs" / "dots.txt").write_text("...")
    (files / "docs" / "picture.png").write_bytes(b"\x89PNG")
    with (files / "rows.jsonl").open("a") as rows:
        rows.write('{"id": 7, "text": "Bergen again."}\n{"id": 8}\n')
    done = vouch("index", "build", "towns", "docs", "rows.jsonl")
    assert (done.exit_code, done.stdout) == (Exit.INCOMPLETE, "towns: documents 2, passages 2\n")
    broken, dots, twice, no_text, kinds, count = done.stderr.splitlines()
    assert broken.startswith("vouch: docs/broken.pdf: the file cannot be read as a PDF (")
    assert dots == "vouch: docs/dots.txt: the document contains no words"
    assert twice.startswith("vouch: rows.jsonl#7: the id 'rows.jsonl#7' occurs twice")
    assert no_text == 'vouch: rows.jsonl, line 3: the row has no text under "text"'
    assert kinds == "vouch: ignored files of other types in folders: .png 1"
    assert count == "vouch: skipped 4 files or rows that could not be used"


def test_an_index_of_nothing_is_refused(files: Path) -> None:
    (files / "empty.txt").write_text("")
    (files / "nothing").mkdir()
    for given in ("empty.txt", "nothing"):
        done = vouch("index", "build", "towns", given)
        assert done.exit_code == Exit.USAGE
        assert "vouch: no document with words was added: the index towns would be empty" in done.stderr
    assert not (files / "towns").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["build", "towns", "nowhere"], "nowhere does not exist: pass existing files or folders"),
        (["build", "docs", "rows.jsonl"], "docs is not empty (it contains mill.md): choose a new folder for the index"),
        (
            ["build", "towns", "rows.jsonl", "--text-field", "x"],
            'rows.jsonl has no field "x" for the text; its keys are id',
        ),
        (
            ["build", "towns", "docs", "--words", "9"],
            "passages must have at least 64 words (twice the overlap), got 9",
        ),
        (
            ["build", "towns", "docs", "--dense", "docs"],
            "must contain config.json and model.safetensors: pass a folder in",
        ),
        (["search", "towns", "mill"], "there is no index in towns: build one with vouch index build towns FILE..."),
        (["add", "towns", "docs"], "there is no index in towns"),
        (["remove", "towns", "x"], "there is no index in towns"),
        (["info", "towns"], "there is no index in towns"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_status_2(files: Path, arguments: list[str], said: str) -> None:
    done = vouch("index", *arguments)
    assert (done.exit_code, done.stdout) == (Exit.USAGE, "")
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (files / "towns").exists()


def test_a_query_in_another_script_says_why_nothing_is_found(files: Path) -> None:
    vouch("index", "build", "towns", "docs")
    done = vouch("index", "search", "towns", "Кто построил мельницу?", "--json")
    assert (done.exit_code, json.loads(done.stdout)["passages"]) == (Exit.OK, [])
    assert done.stderr == ("vouch: nothing was found: the query uses cyrillic letters, but the index uses latin ones\n")


def test_info_says_what_an_index_holds(files: Path) -> None:
    vouch("index", "build", "towns", "docs", "rows.jsonl", "--words", "100")
    facts = json.loads(vouch("index", "info", "towns", "--json").stdout)
    assert {key: facts[key] for key in ("documents", "passages", "words_per_passage", "encoder", "segments")} == {
        "documents": 2,
        "passages": 2,
        "words_per_passage": 100,
        "encoder": None,
        "segments": 1,
    }
    assert facts["contents"] == [{"id": "docs/mill.md", "passages": 1}, {"id": "rows.jsonl#7", "passages": 1}]
    shown = vouch("index", "info", "towns").stdout
    assert "words per passage  100\nencoder            none\n" in shown
    assert shown.endswith("\n\ndocs/mill.md  1 passage\nrows.jsonl#7  1 passage\n")


def test_info_lists_twenty_documents_and_counts_the_others(files: Path) -> None:
    (files / "many.jsonl").write_text("".join(f'{{"text": "Mill {number}."}}\n' for number in range(23)))
    vouch("index", "build", "towns", "many.jsonl")
    lines = vouch("index", "info", "towns").stdout.splitlines()
    assert lines[-21:-1] == [f"many.jsonl#{number}  1 passage" for number in range(1, 21)]
    assert lines[-1] == "and 3 more; use --json to list all"
    assert len(json.loads(vouch("index", "info", "towns", "--json").stdout)["contents"]) == 23


def test_a_damaged_index_is_status_2_whenever_it_is_noticed(files: Path) -> None:
    vouch("index", "build", "towns", "docs")
    [path] = (files / "towns").glob("state-*/*.store")
    content = path.read_bytes()
    path.write_bytes(b"\xff" * 40 + content[40:])
    for command in (["search", "towns", "mill"], ["info", "towns"], ["remove", "towns", "docs"]):
        done = vouch("index", *command)
        assert done.exit_code == Exit.USAGE
        assert done.stderr.startswith("vouch: the index in towns cannot be read")
        assert done.stderr.endswith("again\n")
    path.unlink()
    assert vouch("index", "search", "towns", "mill").exit_code == Exit.USAGE


@pytest.mark.parametrize("command", ["build", "add", "remove", "search", "info"])
def test_a_server_is_refused_with_where_to_name_it(files: Path, command: str) -> None:
    server = "opensearch:http://localhost:9200/notes"
    done = vouch("index", command, server, *([] if command == "info" else ["docs"]))
    assert (done.exit_code, done.stdout) == (Exit.USAGE, "")
    assert done.stderr == (
        f"vouch: expected the folder of a local index, got {server}; "
        f"search this OpenSearch index with vouch check --index {server}\n"
    )
    assert {path.name for path in files.iterdir()} == {"docs", "rows.jsonl"}


@pytest.mark.parametrize("given", ["http://localhost:9200/notes", "opensearch=http://localhost:9200/notes"])
def test_a_server_given_as_a_path_is_told_its_form(files: Path, given: str) -> None:
    done = vouch("check", "It rained.", "--index", given)
    assert (done.exit_code, done.stdout) == (Exit.USAGE, "")
    assert done.stderr.endswith("; did you mean 'opensearch:http://localhost:9200/notes'?\n")


def test_a_disk_that_takes_no_more_is_told_and_the_index_stays(files: Path) -> None:
    vouch("index", "build", "towns", "docs")
    (files / "long.txt").write_text(" ".join(map(str, range(9999))))
    program = (
        "import resource, signal, sys; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000));"
        "from vouching.cli.app import main; sys.argv = ['vouch', 'index', 'add', 'towns', 'long.txt']; sys.exit(main())"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env={**os.environ})
    assert done.returncode == Exit.INCOMPLETE
    assert "cannot be written: File too large; the index is unchanged" in done.stderr
    assert vouch("index", "info", "towns").stdout.startswith("documents          1\n")


def test_what_a_passage_says_cannot_steer_the_terminal(files: Path) -> None:
    (files / "evil.txt").write_text("mill \x1b[31mred\u202e")
    vouch("index", "build", "towns", "evil.txt")
    shown = vouch("index", "search", "towns", "mill").stdout
    assert "\x1b" not in shown
    assert "mill ␛[31mred<U+202E>" in shown
