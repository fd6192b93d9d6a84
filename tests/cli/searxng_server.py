"""A server on a real socket, in a thread of its own, that speaks SearXNG's JSON."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from tests.models.fault_server import Answer, Request
from tests.search.answers import speaks_searxng


@contextmanager
def searxng_server(
    respond: Callable[[Request], Answer] = speaks_searxng,
) -> Iterator[tuple[str, list[str]]]:
    """The name of the engine on the server, which ends with the context, and the paths that it is asked for."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            paths.append(self.path)
            answer = respond(Request(self.path, {}, {}))
            self.send_response(answer.status)
            for name, value in {**answer.headers, "content-length": str(len(answer.body))}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(answer.body)

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            self.do_GET()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"searxng=http://127.0.0.1:{server.server_port}", paths
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
