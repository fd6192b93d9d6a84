"""An OpenAI-compatible server that judges the world of instructions with set error rates.

The name of the model says how often it errs: ``items-0.873-0.717`` has p' = .873 (it passes an item that holds) and
q' = .717 (it fails one that does not); ``whole-0.477-0.662`` has p and q, of the whole response. The rates of these two
are those that Soft-RLVR estimates for its verifier of 20 B weights. An error depends only on what is judged: asked
again, the judge says the same.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import pairwise
from threading import Thread
from typing import Any

from recipes.worlds.instructions import constraints_of, followed, question_parts

PORT = 8791
_BLOCK = r"<<<\S+ {0}>>>\n(.*?)\n<<<\S+ end of {0}>>>"


@contextmanager
def noisy_judge(port: int = PORT) -> Generator[str]:
    """The server, while the context lasts; its address. Raises OSError if another arm has the port.

    The port is part of an arm's settings, so that a resumed arm has the same.
    """
    try:
        server = ThreadingHTTPServer(("127.0.0.1", port), _Handler)
    except OSError as error:
        raise OSError(error.errno, f"port {port} is taken: run one arm with an outside judge at a time") from error
    thread = Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/v1"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def judgment(name: str, question: str) -> str:
    """What the judge of this name says to a prompt about an item or a whole response: yes or no.

    Raises ValueError for a name or a prompt of another form.
    """
    kind, passes, fails = name.split("-")
    if kind == "items":
        x, y, c = _between(question)
        holds = followed(constraints_of(c)[0], y)
    else:
        x, y = (_block(part, question) for part in ("instruction", "response"))
        holds = all(followed(one, y) for one in constraints_of(x))
    digest = hashlib.sha256(f"{name}\0{question}".encode()).digest()
    errs = int.from_bytes(digest[:8], "big") / 2**64 >= float(passes if holds else fails)
    return "yes" if holds != errs else "no"


def _between(question: str) -> list[str]:
    """Instruction, response and item of a question in the paper's words."""
    found, rest = list[str](), question
    marks = question_parts()
    for before, after in pairwise(marks):
        rest = rest[rest.index(before) + len(before) :]
        found.append(rest[: rest.index(after)])
    return found


def _block(name: str, question: str) -> str:
    found = re.search(_BLOCK.format(name), question, re.DOTALL)
    if found is None:
        raise ValueError(f"no {name} in {question!r}")
    return found[1]


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        """Answer one chat completion."""
        asked: dict[str, Any] = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        said = judgment(asked["model"], asked["messages"][-1]["content"])
        choices = [
            {"index": index, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}
            for index in range(asked.get("n") or 1)
        ]
        usage = {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2}
        answer = {"id": "1", "object": "chat.completion", "created": 0, "model": asked["model"]}
        body = json.dumps({**answer, "choices": choices, "usage": usage}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing."""
