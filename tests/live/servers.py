"""Servers that pretend: an API server that answers what a test wants and writes down what it was asked, and proxies."""

from __future__ import annotations

import gzip
import json
import select
import socket
import socketserver
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from schedctl.api.kinds import KINDS

Json = dict[str, Any]


@dataclass
class Request:
    """What the server was asked."""

    method: str
    path: str
    query: dict[str, str]
    headers: list[tuple[str, str]]
    body: bytes = b""
    certificate: str = ""

    def header(self, name: str) -> str:
        return ", ".join(self.all(name))

    def all(self, name: str) -> list[str]:
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclass
class Reply:
    """What the server answers, and how badly.

    Attributes:
        body: bytes, or what becomes JSON.
        packed: with gzip, where the client accepts it.
        chunked: in chunks, as an API server sends long answers.
        cut: end the connection when so many bytes of the body are out, -1 for never.
        drip: send a byte at a time, so many seconds apart.
        silence: seconds before anything is sent.
        reset: reset the connection instead of answering.
    """

    body: Any = field(default_factory=dict)
    status: int = 200
    headers: dict[str, str] = field(default_factory=dict)
    packed: bool = True
    chunked: bool = False
    cut: int = -1
    drip: float = 0.0
    silence: float = 0.0
    reset: bool = False


Answer = Callable[[Request], Reply]


def status(code: int, reason: str, message: str = "", **headers: str) -> Reply:
    """A refusal in the words of an API server."""
    body = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": code, "reason": reason}
    return Reply({**body, "message": message or reason}, code, {k.replace("_", "-"): v for k, v in headers.items()})


class FakeServer:
    """An API server on loopback.

    Attributes:
        answer: called with every request.
        requests: what it was asked, in order.
    """

    def __init__(self, answer: Answer, context: ssl.SSLContext | None = None) -> None:
        self.answer, self.requests = answer, []
        self._server = _Listening(("127.0.0.1", 0), _handler(self))
        if context is not None:
            self._server.context = context
        self.port = self._server.server_address[1]
        self.url = f"{'https' if context else 'http'}://127.0.0.1:{self.port}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)
        self._thread.start()

    def paths(self) -> list[str]:
        return [request.path for request in self.requests]

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Listening(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    context: ssl.SSLContext | None = None

    def finish_request(self, request: Any, client_address: Any) -> None:
        if self.context is None:
            super().finish_request(request, client_address)
            return
        with suppress(OSError), self.context.wrap_socket(request, server_side=True) as secured:
            super().finish_request(secured, client_address)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent: clients go away as they please."""


def _handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _handle(self) -> None:
            parts = urlsplit(self.path)
            length = int(self.headers.get("Content-Length") or 0)
            subject = ""
            if isinstance(self.connection, ssl.SSLSocket) and (peer := self.connection.getpeercert()):
                subject = dict(pair for rdn in peer["subject"] for pair in rdn).get("commonName", "")
            request = Request(
                self.command,
                parts.path,
                dict(parse_qsl(parts.query)),
                list(self.headers.items()),
                self.rfile.read(length),
                subject,
            )
            fake.requests.append(request)
            self._reply(fake.answer(request), "gzip" in request.header("Accept-Encoding"))

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _handle

        def _reply(self, reply: Reply, unpacks: bool) -> None:
            time.sleep(reply.silence)
            if reply.reset:
                linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
                self.close_connection = True
                self.connection.close()
                return
            body = reply.body if isinstance(reply.body, bytes) else json.dumps(reply.body).encode()
            headers = {"Content-Type": "application/json", **reply.headers}
            if reply.packed and unpacks:
                body = gzip.compress(body)
                headers["Content-Encoding"] = "gzip"
            self.send_response(reply.status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header(
                *(("Transfer-Encoding", "chunked") if reply.chunked else ("Content-Length", str(len(body))))
            )
            self.end_headers()
            sent = body if reply.cut < 0 else body[: reply.cut]
            if reply.chunked:
                self.wfile.write(b"%x\r\n" % len(body) + sent)
                if reply.cut < 0:
                    self.wfile.write(b"\r\n0\r\n\r\n")
            elif reply.drip:
                for byte in sent:
                    self.wfile.write(bytes([byte]))
                    self.wfile.flush()
                    time.sleep(reply.drip)
            else:
                self.wfile.write(sent)
            if reply.cut >= 0:
                self.close_connection = True

        def log_message(self, *args: Any) -> None:
            """Stay silent."""

    return Handler


class _Proxy(socketserver.BaseRequestHandler):
    """A proxy that connects, by CONNECT or SOCKS 5."""

    def handle(self) -> None:
        first = self.request.recv(1, socket.MSG_PEEK)
        host, port = self._socks() if first == b"\x05" else self._connect()
        self.server.hosts.append(host)  # type: ignore[attr-defined]
        with suppress(OSError), socket.create_connection(("127.0.0.1", port)) as far:
            ends = {self.request: far, far: self.request}
            while True:
                ready, _, _ = select.select(list(ends), [], [])
                for end in ready:
                    data = end.recv(65536)
                    if not data:
                        return
                    ends[end].sendall(data)

    def _connect(self) -> tuple[str, int]:
        head = b""
        while b"\r\n\r\n" not in head:
            head += self.request.recv(4096)
        lines = head.decode().split("\r\n")
        self.server.heads.append(lines)  # type: ignore[attr-defined]
        host, _, port = lines[0].split()[1].rpartition(":")
        self.request.sendall(b"HTTP/1.1 200 Connection established\r\n\r\n")
        return host, int(port)

    def _socks(self) -> tuple[str, int]:
        _, methods = self.request.recv(2)
        self.request.recv(methods)
        self.request.sendall(b"\x05\x00")
        kind = self.request.recv(4)[3]
        host = (
            socket.inet_ntoa(self.request.recv(4)) if kind == 1 else self.request.recv(self.request.recv(1)[0]).decode()
        )
        port = int.from_bytes(self.request.recv(2), "big")
        self.request.sendall(b"\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00")
        return host, port


class FakeProxy(socketserver.ThreadingTCPServer):
    """A proxy that connects to this machine whatever it is asked for, and writes down what that was."""

    daemon_threads = True
    block_on_close = False

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Proxy)
        self.hosts: list[str] = []
        self.heads: list[list[str]] = []
        self.port = self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Stay silent."""


@contextmanager
def start_proxy() -> Iterator[FakeProxy]:
    """Run a proxy."""
    with FakeProxy() as proxy:
        threading.Thread(target=proxy.serve_forever, args=(0.01,), daemon=True).start()
        yield proxy
        proxy.shutdown()


class Cluster:
    """Objects, as an API server lists them: pages that are all of one version, and nothing else.

    Attributes:
        objects: by path of the collection.
        version: the resourceVersion of everything.
        before: called with each request before it is answered; what it returns is the answer.
    """

    def __init__(self, objects: dict[str, list[Json]] | None = None) -> None:
        self.objects = objects or {}
        self.version = "100"
        self.before: Callable[[Request], Reply | None] = lambda request: None

    def __call__(self, request: Request) -> Reply:
        if (reply := self.before(request)) is not None:
            return reply
        if request.path == "/version":
            return Reply({"gitVersion": "v1.37.1"}, headers={"Date": "Sun, 22 Nov 2026 01:02:03 GMT"})
        if request.path.count("/") > 5 or (request.path.startswith("/apis/") and request.path.count("/") < 4):
            return status(404, "NotFound", "the server could not find the requested resource")
        found = self.objects.get(request.path, [])
        version, begin = self.version, 0
        if token := request.query.get("continue"):
            version, _, start = token.partition("@")
            begin = int(start)
        end = begin + int(request.query["limit"])
        metadata: Json = {"resourceVersion": version}
        if end < len(found):
            metadata |= {"continue": f"{version}@{end}", "remainingItemCount": len(found) - end}
        version, _, resource = request.path.removeprefix("/apis/").removeprefix("/api/").rpartition("/")
        name = next((kind.name for kind in KINDS if kind.resource == resource), "")
        return Reply({"kind": f"{name}List", "apiVersion": version, "metadata": metadata, "items": found[begin:end]})
