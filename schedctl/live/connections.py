"""One connection to one API server.

What is read is asked for again where the server wants patience, breaks off or falls silent; what is changed is sent
once, and again only where it is certain that nobody took notice. `schedctl.live.transports` knows how the server is
reached and as whom, `schedctl.live.faults` has the words for what goes wrong.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, Final, Self

import msgspec

from schedctl.live import faults
from schedctl.live.codes import TOO_MANY_REQUESTS
from schedctl.live.faults import Foreign, Refused, Unanswered
from schedctl.live.kubeconfigs import Access
from schedctl.live.transports import Transport

if TYPE_CHECKING:
    import urllib3

PATIENCE: Final = 30.0
"""Seconds after which one answer is no longer waited for, where ``--request-timeout`` does not say."""
FIRST_PAUSE: Final = 0.25
LONGEST_PAUSE: Final = 8.0
JSON: Final = "application/json"
LARGEST: Final = 512 << 20
"""Bytes of one answer, unpacked: a page of 500 objects as large as etcd takes them, bar some."""
LONGEST: Final = 16 << 20
"""Bytes of one line of a watch: an object, ten times as large as etcd takes it."""
_PIECE = 1 << 16
_GATEWAYS = (502, 503, 504)


class Answer(msgspec.Struct, frozen=True):
    """What an API server answered.

    Attributes:
        body: the bytes, unpacked.
        headers: by name in lower case.
    """

    body: bytes
    headers: Mapping[str, str]


class Connection:
    """A cluster that answers; several threads may use it at once.

    Attributes:
        name: how messages and reports call it, e.g. ``context prod`` or ``in-cluster``.
        namespace: the namespace of the context, "default" where it names none.
    """

    def __init__(self, transport: Transport, timeout: float | None = None) -> None:
        """Talk through a transport.

        Args:
            transport: how the server is reached.
            timeout: seconds that one request may take, None for no limit but how long the server may be silent.
        """
        self.name = transport.name
        self.namespace = transport.namespace
        self._transport = transport
        self._timeout = timeout
        self._known = False

    @classmethod
    def open(cls, access: Access) -> Self:
        """Return a connection; no request is sent yet.

        Raises:
            ClusterError: there is no kubeconfig or no such context, or credentials cannot be had.
            UsageError: groups are to be impersonated without a user.
        """
        return cls(Transport(access), access.timeout)

    @property
    def client(self) -> Any:
        """A ``kubernetes.client.ApiClient`` of its own, with the credentials of this connection as they are now."""
        return self._transport.client()

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        """Read something, again where the server asks for patience (429, 5xx with Retry-After) or does not answer.

        Raises:
            ClusterError: in the end it could not be read.
        """
        pauses = _Pauses(self._timeout or PATIENCE)
        while True:
            began = time.monotonic()
            try:
                with _ReleaseConnection(self._request("GET", path, query or {})) as response:
                    return self._read(response, "GET", path, query or {}, began)
            except _RetryLater as retry:
                if not pauses.pause(retry.seconds):
                    raise retry.fault from None
            except Unanswered as fault:
                # A server that never answered is more likely a wrong address than a restart: no waiting for it.
                if isinstance(fault, Foreign) or not (fault.sent or self._known) or not pauses.pause(None):
                    raise

    def send(
        self, method: str, path: str, body: Any, query: Mapping[str, str] | None = None, kind: str = JSON
    ) -> Answer:
        """Change something, once: no change is sent again unless the server has said that it took no notice of it.

        Args:
            method: e.g. ``POST``.
            path: of the collection or the object.
            body: what becomes JSON, None for nothing.
            query: e.g. ``{"dryRun": "All"}``.
            kind: the media type of the body, which for patches says what kind of patch.

        Raises:
            ClusterError: it was refused, or nobody knows whether it was done: an `Unanswered` whose `sent` is true.
        """
        pauses, data = _Pauses(self._timeout or PATIENCE), None if body is None else msgspec.json.encode(body)
        while True:
            began = time.monotonic()
            try:
                with _ReleaseConnection(self._request(method, path, query or {}, data, kind)) as response:
                    return self._read(response, method, path, query or {}, began)
            except _RetryLater as retry:
                # Only 429 with a time is the server's own word; a gateway's 503 may come after the change was made.
                come_back = retry.code == TOO_MANY_REQUESTS and retry.seconds is not None
                if not come_back or not pauses.pause(retry.seconds):
                    raise retry.fault from None
            except Unanswered as fault:
                # A dry run changes nothing, so there is nothing to look after.
                if fault.sent and not (query or {}).get("dryRun"):
                    raise Unanswered(
                        f"{fault}; it is unknown whether {method} {path} took effect",
                        "check the object before you try again",
                        sent=True,
                    ) from None
                if isinstance(fault, Foreign) or fault.sent or not self._known or not pauses.pause(None):
                    raise

    def stream(self, path: str, query: Mapping[str, str] | None = None) -> Iterator[bytes]:
        """Yield the lines of an answer that goes on, such as a watch.

        It ends where the server ends it or falls silent for long; whoever wants more begins again.

        Raises:
            ClusterError: it cannot be begun.
        """
        pauses = _Pauses(self._timeout or PATIENCE)
        while True:
            try:
                response = self._request("GET", path, query or {})
                if response.status != 200 or "json" not in response.headers.get("content-type", ""):
                    with _ReleaseConnection(response):
                        self._read(response, "GET", path, query or {}, time.monotonic())
                return self._lines(response)
            except _RetryLater as retry:
                if not pauses.pause(retry.seconds):
                    raise retry.fault from None
            except Unanswered as fault:
                if isinstance(fault, Foreign) or not (fault.sent or self._known) or not pauses.pause(None):
                    raise

    def _request(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None = None, kind: str = JSON
    ) -> urllib3.BaseHTTPResponse:
        """Send a request and return the answer as it begins, with new credentials if the old ones are not accepted.

        Raises:
            ClusterError: nobody answers, or there are no new credentials.
        """
        transport = self._transport
        generation = transport.generation
        response = self._request_once(method, path, query, body, kind)
        try:
            renewed = response.status == 401 and transport.renew(generation)
        except BaseException:
            response.close()
            raise
        if renewed:
            response.close()
            response = self._request_once(method, path, query, body, kind)
        self._known = True
        return response

    def _request_once(
        self, method: str, path: str, query: Mapping[str, str], body: bytes | None, kind: str
    ) -> urllib3.BaseHTTPResponse:
        import urllib3

        transport = self._transport
        try:
            return transport.request(method, path, query=query, body=body, timeout=self._timeout, kind=kind)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise faults.connection_fault(self.name, transport.server, transport.proxy, error) from None

    def _read(
        self, response: urllib3.BaseHTTPResponse, method: str, path: str, query: Mapping[str, str], began: float
    ) -> Answer:
        """Return an answer, whole.

        Raises:
            _Later: the server wants patience.
            Refused: it says no.
            Unanswered: it breaks off, takes too long, or is no API server.
        """
        body = self._body(response, began, sent=method != "GET")
        headers = {name.lower(): value for name, value in response.headers.items()}
        code, media = response.status, headers.get("content-type", "")
        if 200 <= code < 300:
            if body and "json" not in media:
                raise faults.foreign_answer(self.name, media.partition(";")[0], sent=method != "GET")
            return Answer(body, headers)
        if 300 <= code < 400:
            raise faults.redirection(self.name, code, headers.get("location", ""), sent=method != "GET")
        fault = faults.refusal(self.name, method, path, query, code, body)
        seconds = _seconds(headers.get("retry-after", ""))
        if code == TOO_MANY_REQUESTS or code in _GATEWAYS or (code >= 500 and seconds is not None):
            raise _RetryLater(code, seconds, fault)
        raise fault

    def _body(self, response: urllib3.BaseHTTPResponse, began: float, *, sent: bool) -> bytes:
        import urllib3

        pieces, length, transport = [], 0, self._transport
        try:
            # As much as has come, so that an answer that drips meets the time limit, too.
            while piece := response.read1(_PIECE):
                pieces.append(piece)
                length += len(piece)
                if length > LARGEST:
                    raise faults.oversize(self.name, "an answer", LARGEST, sent=sent)
                if self._timeout is not None and time.monotonic() - began > self._timeout:
                    raise faults.timeout(self.name, self._timeout)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            raise faults.connection_fault(self.name, transport.server, transport.proxy, error) from None
        return b"".join(pieces)

    def _lines(self, response: urllib3.BaseHTTPResponse) -> Iterator[bytes]:
        import urllib3

        pieces: list[bytes] = []  # of the line that has not come to its end
        length = 0
        with _ReleaseConnection(response):
            try:
                while piece := response.read1(_PIECE):
                    end, *begun = piece.split(b"\n")
                    pieces.append(end)
                    length += len(end)
                    for beginning in begun:
                        if length:
                            yield b"".join(pieces)
                        pieces, length = [beginning], len(beginning)
                    if length > LONGEST:
                        raise faults.oversize(self.name, "a line of a watch", LONGEST, sent=False)
            except (urllib3.exceptions.HTTPError, OSError):
                return  # a line that broke off is no line
        if length:
            yield b"".join(pieces)


class _RetryLater(Exception):
    """The server wants us to come back later.

    Attributes:
        code: the HTTP status.
        seconds: when, None where it did not say.
        fault: what to raise where we do not.
    """

    def __init__(self, code: int, seconds: float | None, fault: Refused) -> None:
        super().__init__()
        self.code, self.seconds, self.fault = code, seconds, fault


class _Pauses:
    """Pauses before one answer: as long as the server wants, or twice as long each time, and not for ever."""

    def __init__(self, patience: float) -> None:
        self._until = time.monotonic() + patience
        self._next = FIRST_PAUSE

    def pause(self, requested: float | None) -> bool:
        """Wait and return True, or return False at once where that would take too long altogether."""
        seconds = max(requested, FIRST_PAUSE) if requested is not None else self._next
        self._next = min(2 * self._next, LONGEST_PAUSE)
        if time.monotonic() + seconds > self._until:
            return False
        time.sleep(seconds)
        return True


class _ReleaseConnection:
    """Give a connection back to its pool when an answer was read to its end, and close it where it was not."""

    def __init__(self, response: urllib3.BaseHTTPResponse) -> None:
        self._response = response

    def __enter__(self) -> urllib3.BaseHTTPResponse:
        return self._response

    def __exit__(self, kind: object, error: object, trace: object) -> None:
        # The body of a refusal was read to its end, so its connection can be used again.
        if error is not None and not isinstance(error, _RetryLater | Refused):
            self._response.close()
        self._response.release_conn()


def _seconds(text: str) -> float | None:
    """Return what a Retry-After says, None where it says nothing; API servers send seconds, never dates."""
    return float(text) if text.isascii() and text.isdigit() else None
