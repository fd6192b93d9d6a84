"""A server on a real socket that speaks chat completions and responses, whole and streamed, and fails on demand."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import uvicorn

from vouching.serve.listening import open_socket, url_of
from vouching.serve.policy import JudgeSettings, LimitSettings, Policy, ServeSettings
from vouching.serve.protocol import TimedProtocol
from vouching.serve.proxy import build_proxy
from vouching.serve.proxy_messages import parsed_object
from vouching.serve.proxy_settings import ProxySettings


class Upstream:
    """What the server says, and what it was asked."""

    def __init__(self) -> None:
        self.says = "The bridge opened in 1937."
        self.status = 200
        self.broken = False
        self.sends_done = True
        self.raw: bytes | None = None
        self.kind = "application/json"
        """The content type of such a raw body and of errors."""
        self.tool_calls: list[dict[str, Any]] | None = None
        self.pause = 0.0
        """Seconds between the events of a stream, and before a whole answer."""
        self.left = threading.Event()
        """Set when a caller closed its connection before the answer was sent."""
        self.asked: list[tuple[str, dict[str, str], Any]] = []
        self.more: list[tuple[str, str]] = []
        """Further headers of its answers."""
        self.url = ""


def _handler(upstream: Upstream) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # as servers of models do; else each answer waits 40 ms

        def do_GET(self) -> None:
            self._answer({"object": "list", "data": [{"id": "tiny", "object": "model"}]})

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length", 0)))
            asked = parsed_object(raw) or {}
            headers = {name.lower(): ", ".join(self.headers.get_all(name, ())) for name in self.headers}
            upstream.asked.append((self.path, headers, asked))
            if upstream.status != 200 or upstream.raw is not None:
                body = upstream.raw or b'{"error": {"message": "slow down", "type": "rate"}}'
                self._send(upstream.status, upstream.kind, body, {"retry-after": "7", "x-upstream": "yes"})
            elif upstream.pause and not asked.get("stream"):
                _left(self.connection, upstream)
                self.close_connection = True
            elif asked.get("stream"):
                self._stream(_response_events(upstream) if self.path.endswith("responses") else _chunks(upstream))
            elif self.path.endswith("responses"):
                self._answer(_response(upstream.says))
            else:
                self._answer(_completion(upstream))

        def _answer(self, value: Any) -> None:
            self._send(200, "application/json", json.dumps(value).encode(), {})

        def _send(self, status: int, kind: str, body: bytes, headers: dict[str, str]) -> None:
            self.send_response(status)
            sent = {"content-type": kind, "content-length": str(len(body)), **headers}
            for name, value in (*sent.items(), *upstream.more):
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def _stream(self, events: list[bytes]) -> None:
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("transfer-encoding", "chunked")
            for name, value in upstream.more:
                self.send_header(name, value)
            self.end_headers()
            for event in events[: len(events) // 2] if upstream.broken else events:
                for part in (event[:7], event[7:]):  # an event may come in pieces
                    self.wfile.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                if upstream.pause and _left(self.connection, upstream):
                    self.close_connection = True
                    return
            if upstream.broken:
                self.close_connection = True
                self.connection.shutdown(socket.SHUT_RDWR)
            else:
                self.wfile.write(b"0\r\n\r\n")

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Handler


def _left(link: socket.socket, upstream: Upstream) -> bool:
    """Whether the caller closes its connection during the pause."""
    link.settimeout(upstream.pause)
    try:
        if not link.recv(1):
            upstream.left.set()
    except TimeoutError:
        pass
    return upstream.left.is_set()


def _completion(upstream: Upstream) -> dict[str, Any]:
    message: dict[str, Any] = {"role": "assistant", "content": upstream.says}
    if upstream.tool_calls:
        message = {"role": "assistant", "content": None, "tool_calls": upstream.tool_calls}
    choice = {"index": 0, "message": message, "finish_reason": "stop"}
    return {"id": "c", "object": "chat.completion", "created": 1, "model": "tiny", "choices": [choice]}


def _chunks(upstream: Upstream) -> list[bytes]:
    head = {"id": "c", "object": "chat.completion.chunk", "created": 1, "model": "tiny"}
    pieces = [upstream.says[at : at + 5] for at in range(0, len(upstream.says), 5)]
    deltas: list[dict[str, Any]] = [{"role": "assistant"}, *({"content": piece} for piece in pieces)]
    chunks = [{**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]} for delta in deltas]
    chunks.append({**head, "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}]})
    last = [b"data: [DONE]\n\n"] if upstream.sends_done else []
    return [*(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks), *last]


def _response(text: str) -> dict[str, Any]:
    part = {"type": "output_text", "text": text, "annotations": []}
    item = {"type": "message", "id": "m", "role": "assistant", "status": "completed", "content": [part]}
    return {
        "id": "r",
        "object": "response",
        "created_at": 1,
        "model": "tiny",
        "status": "completed",
        "output": [item],
        "parallel_tool_calls": False,
        "tool_choice": "auto",
        "tools": [],
    }


def _response_events(upstream: Upstream) -> list[bytes]:
    text, place = upstream.says, {"item_id": "m", "output_index": 0, "content_index": 0}
    pieces = [text[at : at + 9] for at in range(0, len(text), 9)]
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**_response(""), "output": [], "status": "in_progress"}},
        *({"type": "response.output_text.delta", "delta": piece, "logprobs": [], **place} for piece in pieces),
        {"type": "response.output_text.done", "text": text, "logprobs": [], **place},
        {"type": "response.completed", "response": _response(text)},
    ]
    numbered = [{**event, "sequence_number": number} for number, event in enumerate(events)]
    return [f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode() for event in numbered]


@contextmanager
def upstream_server() -> Iterator[Upstream]:
    """The server, which ends with the context."""
    upstream = Upstream()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(upstream))
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    upstream.url = f"http://127.0.0.1:{server.server_port}/v1"
    try:
        yield upstream
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def proxy_before(upstream: str, **settings: Any) -> Iterator[str]:
    """The base URL of a proxy before a server."""
    judges = {"default": JudgeSettings(settings.pop("model", "embedded:rules"))}
    limits = LimitSettings(100_000, **settings.pop("limits", {}))
    serve = ServeSettings(**settings.pop("serve", {}))
    policy = Policy(serve, limits, judges, ProxySettings(upstream=upstream, **settings))
    TimedProtocol.obey(limits)
    config = uvicorn.Config(build_proxy(policy), log_level="warning", http=TimedProtocol)
    server = uvicorn.Server(config)
    listening = open_socket("127.0.0.1:0")
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        threading.Event().wait(0.01)
    try:
        yield f"{url_of(listening)}/v1"
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
