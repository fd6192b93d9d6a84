"""A server on a real socket that speaks OpenAI's chat completions and answers by a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

Answer = Callable[[str], str | int]
"""From the last message to the reply, or to a status to fail with."""


@contextmanager
def chat_server(answer: Answer) -> Iterator[str]:
    """The name of a model on the server, which ends with the context."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            said = answer(asked["messages"][-1]["content"])
            status = said if isinstance(said, int) else 200
            choices = [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]
            body = json.dumps({"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 5}}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if status != 200:
                self.send_header("retry-after", "3600")  # longer than anyone waits: the failure shows at once
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # the client is gone
                self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1#tiny"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
