"""HTTP/1.1 as the servers of vouching speak it: a slow client holds neither a connection nor memory for long."""

from __future__ import annotations

import asyncio

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from vouching.serve.policy import LimitSettings

LONGEST_HEADERS = 32_768
"""Bytes of the request line and headers together."""


class TimedProtocol(HttpToolsProtocol):
    """HTTP/1.1 that closes a connection whose headers are too long or do not arrive, or whose answer is not read."""

    header_seconds = 10.0
    answer_seconds = 30.0

    @classmethod
    def obey(cls, limits: LimitSettings) -> None:
        """Take the times from a policy, for all connections of this process."""
        cls.header_seconds, cls.answer_seconds = limits.header_seconds, limits.answer_seconds

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to wait for the first headers."""
        self.access_log = False  # a query may hold a secret; the gate logs routes
        super().connection_made(transport)  # pyright: ignore[reportArgumentType]
        self._headers: asyncio.TimerHandle | None = None
        self._reading: asyncio.TimerHandle | None = None
        self._framing = 0  # bytes of headers and trailers that are not complete
        self._wait_for_headers()

    def data_received(self, data: bytes) -> None:
        """Wait for the rest of the headers if the data does not complete them; refuse headers that are too long."""
        self._framing += len(data)
        super().data_received(data)
        if self._framing > LONGEST_HEADERS and not self.transport.is_closing():
            self.send_400_response("The headers are too long.")
        self._wait_for_headers()

    def on_headers_complete(self) -> None:
        """Start the request, unless its headers are too long."""
        self._framing = 0
        if len(self.url) + sum(len(name) + len(value) for name, value in self.headers) > LONGEST_HEADERS:
            raise ValueError("the headers are too long")  # answered with status 400
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Pass on a part of the body."""
        self._framing = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """End the request."""
        self._framing = 0
        super().on_message_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        for timer in (self._headers, self._reading):
            if timer is not None:
                timer.cancel()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Wait for the client to read what was written: it is in memory, and its sender waits."""
        super().pause_writing()
        if self._reading is None:
            self._reading = self.loop.call_later(self.answer_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting: the client reads."""
        if self._reading is not None:
            self._reading.cancel()
            self._reading = None
        super().resume_writing()

    def _wait_for_headers(self) -> None:
        if self._headers is None and self._between_requests:
            self._headers = self.loop.call_later(self.header_seconds, self._close_if_slow)

    @property
    def _between_requests(self) -> bool:
        # The cycle is None before the first request.
        return self.cycle is None or self.cycle.response_complete  # pyright: ignore[reportUnnecessaryComparison]

    def _close_if_slow(self) -> None:
        self._headers = None
        if self._between_requests and self.timeout_keep_alive_task is None and not self.transport.is_closing():
            self.transport.close()
