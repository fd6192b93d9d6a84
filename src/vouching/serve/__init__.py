"""Services: the HTTP API, the guard proxy and the Model Context Protocol. They need the extra ``serve``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vouching.lazy import lazily

if TYPE_CHECKING:
    from vouching.serve.app import build_app
    from vouching.serve.mcp_server import build_mcp
    from vouching.serve.mcp_tools import McpConfig
    from vouching.serve.policy import Policy, read_policy

__all__ = ["McpConfig", "Policy", "build_app", "build_mcp", "read_policy"]

__getattr__, __dir__ = lazily(__name__)
