"""A server on a real socket that speaks OpenAI's chat completions, and System One, and answers by a function."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = Callable[[str], str | int]
"""From the last message to the reply, or to a status to fail with; 0 hangs up. From the questions of a decision model,
as JSON, to the probability that it gives to each."""


@contextmanager
def chat_server(
    answer: Answer, retry_after: int = 3600, cost: float | None = None, whole: bool = False
) -> Iterator[str]:
    """The name of a model on the server, which ends with the context.

    Failures ask to be retried after the seconds; 3600 is longer than anyone waits, so that they show at once. Replies
    of a decision model report the cost. With ``whole``, the function gets all messages, as JSON.
    """

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            chats = "messages" in asked
            shown = asked["messages"] if chats else asked["questions"]
            said = answer(shown[-1]["content"] if chats and not whole else json.dumps(shown))
            status = said if isinstance(said, int) else 200
            if status == 0:
                self.close_connection = True
                return
            choices = [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]
            reply: dict[str, Any] = {"choices": choices, "usage": {"prompt_tokens": 9, "completion_tokens": 5}}
            if not chats:
                reply = {"model": "tiny-1", "usage": {"input_tokens": 900, "output_tokens": 5, "cost": cost}}
                reply["answers"] = {name: {"type": "noul", "noul": float(said)} for name in asked["questions"]}
            body = json.dumps(reply).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            if status != 200:
                self.send_header("retry-after", str(retry_after))
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
