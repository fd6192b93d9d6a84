"""Names say what a thing is: no module for everything, no verb for anything."""

from __future__ import annotations

from tests.house.source_tree import all_modules, classes, functions

VAGUE_MODULES = {"utils", "util", "helpers", "helper", "common", "misc", "manager", "core"}
VAGUE_FUNCTIONS = {"process", "handle", "run_pipeline"}


def test_no_module_or_folder_has_a_vague_name() -> None:
    assert [m.name for m in all_modules() if VAGUE_MODULES & set(m.name.removesuffix(".py").split("/"))] == []


def test_no_function_has_a_vague_name() -> None:
    assert [f"{m.name}:{f.name}" for m in all_modules() for f in functions(m.tree) if f.name in VAGUE_FUNCTIONS] == []


def test_no_class_is_a_manager() -> None:
    assert [f"{m.name}:{c.name}" for m in all_modules() for c in classes(m.tree) if c.name.endswith("Manager")] == []
