"""How a question gets to an extender, and the answer back: one POST over HTTP or HTTPS, and no more than that.

The standard library's client is all it takes: no connection is kept, no redirect is followed, no proxy is used, and
nothing is tried twice. The whole call has to end within the time that the configuration gives it.
"""

from __future__ import annotations

import os
import socket
import ssl
import tempfile
import threading
from base64 import b64encode
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from pathlib import Path
from typing import Protocol
from urllib.parse import SplitResult, unquote, urlsplit

from schedctl.config import types as config
from schedctl.framework.extenders import ExtenderError, address

MOST_BYTES = 256 << 20
"""The longest answer that is read. Five thousand whole nodes are a tenth of it."""
OK = 200
_AGAIN = 0.02
"""After how many seconds a connection that is late is closed once more."""


class Calls(Protocol):
    """Puts a question to one extender."""

    def __call__(self, verb: str, question: bytes) -> bytes:
        """Return the answer.

        Args:
            verb: what is asked, as the configuration calls it.
            question: JSON.

        Raises:
            ExtenderError: there is none, or it is not a good one.
            Unanswered: nobody is there to give it.
        """


def url_of(extender: config.Extender, verb: str) -> str:
    """Return where a question goes."""
    return f"{extender.url_prefix.rstrip('/')}/{verb}"


class HTTP:
    """Puts questions to an extender over the network.

    Raises:
        OSError: a file of its TLS settings cannot be read.
        ValueError: its TLS settings make no sense.
    """

    def __init__(self, extender: config.Extender) -> None:
        self._extender = extender
        self._timeout = extender.http_timeout.seconds if extender.http_timeout > 0 else None
        self._tls = tls_context(extender)

    def __call__(self, verb: str, question: bytes) -> bytes:
        """Return the answer; see `Calls`."""
        url = url_of(self._extender, verb)
        shown = address(url)
        try:
            parts = urlsplit(url)
            connection = self._connection(parts)
        except ValueError as fault:
            raise ExtenderError(f'Post "{shown}": {fault}') from None
        late = threading.Event()
        head = False
        try:
            with self._cut_off(connection, late):
                connection.connect()
                if late.is_set():  # looking up its name took all the time
                    raise TimeoutError
                connection.request("POST", _target(parts), question, _headers(parts))
                response = connection.getresponse()
                head = True
                if response.status != OK:
                    raise ExtenderError(f"failed {verb} with extender at URL {shown}, code {response.status}")
                answer = _read(response)
                if late.is_set():  # the end that was read is the one that was made here
                    raise TimeoutError
        except (OSError, HTTPException, ValueError, AttributeError) as fault:  # what a closed connection may look like
            if late.is_set() or isinstance(fault, TimeoutError):
                where = "or context cancellation while reading body" if head else "exceeded while awaiting headers"
                text = f"context deadline exceeded (Client.Timeout {where})"
                raise ExtenderError(text if head else f'Post "{shown}": {text}') from None
            raise ExtenderError(f'Post "{shown}": {_fault_text(fault, parts)}') from None
        finally:
            connection.close()
        return answer

    def _connection(self, parts: SplitResult) -> HTTPConnection:
        if parts.scheme not in ("http", "https"):
            raise ValueError(f'unsupported protocol scheme "{parts.scheme}"')
        if not parts.hostname:
            raise ValueError("no Host in request URL")
        if parts.scheme == "http":
            return HTTPConnection(parts.hostname, parts.port, timeout=self._timeout)
        name = self._extender.tls_config.server_name if self._extender.tls_config else ""
        return _NamedHTTPSConnection(parts.hostname, parts.port, self._timeout, self._tls, name)

    @contextmanager
    def _cut_off(self, connection: HTTPConnection, late: threading.Event) -> Iterator[None]:
        """Close the connection when the time is over, however the extender lets its answer drip.

        The timeout of a socket is for one read of it, that of Go's client for the whole call.
        """
        if self._timeout is None:
            yield
            return

        over = threading.Event()

        def cut() -> None:
            if over.wait(self._timeout):
                return
            late.set()
            while not over.wait(_AGAIN):  # there may be no socket yet, or TLS is just about to take it over
                sock = connection.sock
                if sock is not None:
                    _shut(sock)

        threading.Thread(target=cut, daemon=True).start()
        try:
            yield
        finally:
            over.set()


class _NamedHTTPSConnection(HTTPSConnection):
    """A connection to a server that must be the one of a given name, whatever its address is."""

    def __init__(self, host: str, port: int | None, timeout: float | None, tls: ssl.SSLContext, name: str) -> None:
        super().__init__(host, port, timeout=timeout, context=tls)
        self._tls, self._name = tls, name or host

    def connect(self) -> None:
        """Connect, and ask for that name."""
        HTTPConnection.connect(self)
        secured = self._tls.wrap_socket(self.sock, server_hostname=self._name, do_handshake_on_connect=False)
        self.sock = secured  # before the handshake, which may have to be cut off
        secured.do_handshake()


def tls_context(extender: config.Extender) -> ssl.SSLContext:
    """Return how to speak TLS with an extender; with ``enableHTTPS`` and no CA, any certificate is taken.

    Raises:
        OSError: a file cannot be read.
        ValueError: the settings make no sense.
    """
    settings = extender.tls_config or config.ExtenderTLSConfig()
    authority = settings.ca_data or _file(settings.ca_file)
    context = ssl.create_default_context()
    if authority:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            context.load_verify_locations(cadata=authority.decode())
        except (ssl.SSLError, UnicodeDecodeError):
            raise ValueError("unable to load root certificates: unable to parse bytes as PEM block") from None
    if settings.insecure or (extender.enable_https and not authority):
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    certificate, key = settings.cert_data or _file(settings.cert_file), settings.key_data or _file(settings.key_file)
    if certificate and key:
        _identify(context, certificate, key)
    return context


def _file(path: str) -> bytes:
    return Path(path).read_bytes() if path else b""


def _identify(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Give a client its certificate; OpenSSL takes it from a file only, which nobody else may read."""
    descriptor, path = tempfile.mkstemp()
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(key.rstrip(b"\n") + b"\n" + certificate)
        context.load_cert_chain(path)
    except ssl.SSLError:
        raise ValueError("tls: the client certificate and key do not match, or are not PEM") from None
    finally:
        Path(path).unlink()


def _target(parts: SplitResult) -> str:
    path = parts.path or "/"
    return f"{path}?{parts.query}" if parts.query else path


def _headers(parts: SplitResult) -> dict[str, str]:
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity", "Connection": "close"}
    if parts.username is not None:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        headers["Authorization"] = f"Basic {b64encode(user.encode()).decode()}"
    return headers


def _read(response: HTTPResponse) -> bytes:
    answer = bytearray()
    while len(answer) <= MOST_BYTES and (more := response.read1(1 << 16)):
        answer += more
    if len(answer) > MOST_BYTES:
        raise HTTPException(f"the answer is longer than {MOST_BYTES >> 20} MiB")
    if response.length:  # read1 does not raise where the connection ends before the answer does
        raise HTTPException("unexpected EOF")
    return bytes(answer)


def _shut(sock: socket.socket) -> None:
    with suppress(OSError):  # it may be closed already
        socket.socket.shutdown(sock, socket.SHUT_RDWR)


def _fault_text(fault: Exception, parts: SplitResult) -> str:
    """Return what went wrong on the way, where it is simple in Go's words."""
    if isinstance(fault, ConnectionRefusedError):
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return f"dial tcp {parts.hostname}:{port}: connect: connection refused"
    if isinstance(fault, ssl.SSLCertVerificationError):
        return f"tls: failed to verify certificate: {fault.verify_message}"
    if isinstance(fault, ssl.SSLError):
        return f"tls: {(fault.reason or 'handshake failure').lower().replace('_', ' ')}"
    if isinstance(fault, socket.gaierror):
        return f"dial tcp: lookup {parts.hostname}: no such host"
    if isinstance(fault, ConnectionResetError):
        return "EOF"
    return (fault.strerror if isinstance(fault, OSError) else "") or str(fault) or "EOF"
