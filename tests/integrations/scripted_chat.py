"""A server of chat completions, complete enough for clients that read every field; it records what it was asked."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@contextmanager
def scripted_chat(
    answer: Callable[[list[dict[str, Any]]], str],
) -> Iterator[tuple[str, list[list[dict[str, Any]]]]]:
    """The base URL of the server, and the messages of each request; ``answer`` makes the reply to the messages."""
    asked: list[list[dict[str, Any]]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            messages = json.loads(self.rfile.read(int(self.headers["content-length"])))["messages"]
            asked.append(messages)
            choice = {"index": 0, "message": {"role": "assistant", "content": answer(messages)}}
            usage = {"prompt_tokens": 9, "completion_tokens": 5, "total_tokens": 14}
            body = {
                "id": "c",
                "object": "chat.completion",
                "created": 1,
                "model": "tiny",
                "usage": usage,
                "choices": [{**choice, "finish_reason": "stop", "logprobs": None}],
            }
            raw = json.dumps(body).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
