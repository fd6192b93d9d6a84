"""``import vouching`` is quick because it loads next to nothing."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = {"torch", "transformers", "onnxruntime", "tokenizers", "numpy", "scipy", "sklearn", "pandas", "datasets"}
THIRD_PARTY_AT_MOST = 6
"""rapidfuzz, pydantic with its core and typing helpers: what verdicts and their JSON may need."""

PROBE = """
import json, sys
before = set(sys.modules)
{statement}
names = {{name.split(".")[0] for name in set(sys.modules) - before}}
print(json.dumps(sorted(names - sys.stdlib_module_names)))
"""


def packages_loaded_by(statement: str) -> set[str]:
    """Top-level names outside the standard library that a statement loads in a fresh interpreter."""
    probe = [sys.executable, "-c", PROBE.format(statement=statement)]
    done = subprocess.run(probe, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout)) - {"vouching"}


def test_the_probe_sees_what_an_import_loads() -> None:
    assert "rapidfuzz" in packages_loaded_by("import rapidfuzz")


def test_importing_vouching_loads_nothing_heavy() -> None:
    loaded = packages_loaded_by("import vouching")
    assert loaded & HEAVY == set(), f"loaded: {sorted(loaded)}"


def test_importing_vouching_loads_a_handful_of_packages_at_most() -> None:
    loaded = packages_loaded_by("import vouching")
    assert len(loaded) <= THIRD_PARTY_AT_MOST, f"loaded: {sorted(loaded)}"


def test_an_http_client_is_loaded_only_for_a_model_on_a_server() -> None:
    clients = {"openai", "aiohttp", "httpx2"}  # the first two for tests and benchmarks alone
    used = "import vouching.cli.app; from vouching import check; check('It opened in 1937.', 'It opened in 1973.')"
    assert packages_loaded_by(used) & clients == set()
    opened = "from vouching.models import open_model; open_model('http://localhost:8000/v1#m', cache='')"
    assert packages_loaded_by(opened) & clients == {"httpx2"}


def test_a_plain_check_by_the_rules_loads_neither_pydantic_nor_numpy() -> None:
    # The command line does: typer turns its arguments into values with pydantic.
    claim, source = "It opened in 1937.", "The bridge opened in 1973."
    loaded = packages_loaded_by(f"import vouching; vouching.Checker('embedded:rules').check({claim!r}, {source!r})")
    assert "rapidfuzz" in loaded
    assert not {name for name in loaded if name.startswith(("pydantic", "numpy"))}


def test_a_check_by_the_encoder_loads_numpy() -> None:
    claim, source = "It opened in 1937.", "The bridge opened in 1973."
    loaded = packages_loaded_by(f"import vouching; vouching.Checker('embedded').check({claim!r}, {source!r})")
    assert "numpy" in loaded
