"""What can go wrong with an API server, in words a person can use, with a next step each.

A server that refuses is `Refused`, and its own words are passed on; one that cannot be reached, breaks off or answers
nonsense is `Unanswered`, and the words are ours. Servers and what stands between are not trusted: of what they say one
line is kept, and the command line takes out what a terminal would obey.
"""

from __future__ import annotations

import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from schedctl import shipped
from schedctl.errors import ClusterError
from schedctl.live import secrets

_LENGTH = 500
_NOBODY = 'User "system:anonymous"'
_VERBS = {"POST": "create", "PUT": "update", "PATCH": "patch", "DELETE": "delete"}
_IMPERSONATING = re.compile(r"cannot impersonate[a-z:-]* resource ")
_IMPERSONATED = re.compile(r'^(\w+)\S* "([^"]*)" is forbidden: .*cannot impersonate[a-z:-]* resource "([\w/]+)"')
_USERINFO = re.compile(r"://\S*@")
_NO_API_SERVER = "a proxy may be in between, or the server in the kubeconfig is not an API server"
_LOGIN_PAGE = "a proxy or a login page is in between; log in there, or fix the server in the kubeconfig"
_HINTS = {
    410: "the server no longer keeps that version; try again",
    429: "the server is overloaded; try again later",
    400: "the API server may be of another version; `-v` prints it",
}


class Refused(ClusterError):
    """An API server answered, and said no.

    Attributes:
        code: the HTTP status, e.g. 409.
        reason: the ``reason`` of its Status, e.g. ``Conflict``, "" where it sent none.
        text: its own words, one line; "" where it sent none.
    """

    def __init__(self, code: int, reason: str, text: str, message: str, hint: str) -> None:
        super().__init__(message, hint)
        self.code, self.reason, self.text = code, reason, text


class Unanswered(ClusterError):
    """Nobody answered, or not what an API server answers.

    Attributes:
        sent: whether the request may have arrived; what it was to change may have changed then.
    """

    def __init__(self, message: str, hint: str, *, sent: bool) -> None:
        super().__init__(message, hint)
        self.sent = sent


class Foreign(Unanswered):
    """Somebody answered who is no API server: a login page, a proxy. To ask again is in vain."""


class _Status(msgspec.Struct):
    """A ``Status`` of Kubernetes."""

    kind: str = ""
    message: str = ""
    reason: str = ""
    code: int = 0


def status(body: bytes) -> tuple[str, str]:
    """Return the reason and the message of a ``Status``, both "" where it is none."""
    try:
        found = msgspec.json.decode(body, type=_Status)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
        return "", ""
    return (found.reason, line(found.message)) if found.kind == "Status" else ("", "")


def line(text: str) -> str:
    """Return a text as one line of reasonable length, without secrets, of which a cut would leave a part."""
    joined = without_passwords(" ".join(secrets.mask(text).split()))
    return joined if len(joined) <= _LENGTH else f"{joined[: _LENGTH - 1]}…"


def without_passwords(text: str) -> str:
    """Return a text whose URLs hold no names and passwords any more."""
    return _USERINFO.sub("://", text)


def refusal(name: str, method: str, path: str, query: Mapping[str, str], code: int, body: bytes) -> Refused:
    """Return the fault of a server that answered with an error.

    Args:
        name: what the cluster is called.
        method: of the request.
        path: of the request.
        query: of the request.
        code: the HTTP status.
        body: the answer.
    """
    reason, text = status(body)
    what = text or f"HTTP {code}"
    if code == 401:
        message, hint = "the credentials are not accepted (401)", "log in again, or ask for a new kubeconfig"
    elif code == 403 and reason and _NOBODY in text:
        message = f"{what} (403): your credentials were not recognised, so the request was anonymous"
        hint = "log in again; is the client certificate or token in the kubeconfig of this cluster?"
    elif code == 403 and reason:
        message, hint = f"{what} (403)", _permission_hint(method, path, query, text)
    elif code == 403:
        message = f"{path} is forbidden (403), and not by an API server"
        hint = "a proxy or a firewall is in between"
    elif code == 404:
        message, hint = f"{path} not found (404): {what}", "is the server in the kubeconfig an API server?"
    else:
        again = "the server has a problem; try again later" if code >= 500 else "try again"
        message, hint = f"{method} {path}: {what} ({code})", _HINTS.get(code, again)
    return Refused(code, reason, text, f"{name}: {message}", hint)


def redirection(name: str, code: int, target: str, *, sent: bool) -> Foreign:
    """Return the fault of somebody who sends us elsewhere, which no API server does."""
    return Foreign(
        f"{name}: answered with a redirect to {line(target) or 'nowhere'} ({code}), which no API server does",
        _LOGIN_PAGE,
        sent=sent,
    )


def foreign_answer(name: str, kind: str, *, sent: bool) -> Foreign:
    """Return the fault of somebody who answers, but not with JSON."""
    return Foreign(
        f"{name}: answered with {line(kind) or 'something'} instead of JSON, which no API server does",
        _LOGIN_PAGE,
        sent=sent,
    )


def oversize(name: str, what: str, limit: int, *, sent: bool) -> Foreign:
    """Return the fault of somebody who answers with more than any API server does.

    Args:
        name: what the cluster is called.
        what: what is too large.
        limit: how many bytes of it are taken.
        sent: whether the request may have changed something.
    """
    return Foreign(
        f"{name}: {what} of more than {limit >> 20} MiB, which no API server sends", _NO_API_SERVER, sent=sent
    )


def unreadable(name: str, what: str) -> Unanswered:
    """Return the fault of a server whose answer to a GET is not what was asked for.

    Args:
        name: what the cluster is called.
        what: what is wrong with the answer.
    """
    return Unanswered(f"{name}: {what}", _NO_API_SERVER, sent=False)


def timeout(name: str, seconds: float) -> Unanswered:
    """Return the fault of a server that takes longer than it was given."""
    return Unanswered(f"{name}: no answer within {seconds:g} s", "a longer `--request-timeout` may help", sent=True)


def connection_fault(name: str, server: str, proxy: str, error: BaseException) -> Unanswered:
    """Return the fault behind an exception of the connection.

    Args:
        name: what the cluster is called.
        server: its URL.
        proxy: the URL of the proxy, "" where there is none.
        error: what urllib3 raised.
    """
    import urllib3.exceptions as raised

    server, proxy = without_passwords(server), without_passwords(proxy)
    at = f"{server} through the proxy {proxy}" if proxy else server
    causes = list(_causes(error))

    def has(*kinds: type[BaseException]) -> bool:
        return any(isinstance(cause, kinds) for cause in causes)

    # One fault has several causes, and kinds that belong to another come before it: an untrusted certificate is an
    # SSLError, and a name that is not found is a NewConnectionError.
    trust = next((cause for cause in causes if isinstance(cause, ssl.SSLCertVerificationError)), None)
    if trust is not None:
        message, hint = _certificate_fault(trust, server)
        return Unanswered(f"{name}: {message}", hint, sent=False)
    if has(ssl.SSLError, raised.SSLError):
        return Unanswered(
            f"{name}: TLS with {at} failed: {_reason(causes)}",
            "check the server and the certificates in the kubeconfig",
            sent=_is_about_reading(causes),
        )
    if has(socket.gaierror, raised.NameResolutionError):
        looked = proxy or server
        return Unanswered(
            f"{name}: the name of {looked} cannot be resolved", "is the VPN up, and the kubeconfig right?", sent=False
        )
    if has(ConnectionRefusedError):
        return Unanswered(
            f"{name}: {at} refuses the connection", "is the API server running, and the kubeconfig right?", sent=False
        )
    if has(raised.ConnectTimeoutError):
        return Unanswered(f"{name}: {at} does not answer", "is the VPN up? a firewall may be in between", sent=False)
    if has(raised.ProxyError):
        return Unanswered(
            f"{name}: the proxy {proxy} does not connect to {server}: {_reason(causes)}",
            "proxy-url in the kubeconfig or $HTTPS_PROXY names it",
            sent=False,
        )
    if has(raised.ReadTimeoutError, TimeoutError):
        hint = "a longer `--request-timeout` may help; a proxy may be in between"
        return Unanswered(f"{name}: {at} stopped answering", hint, sent=True)
    if has(raised.NewConnectionError):
        return Unanswered(f"{name}: {at} cannot be reached: {_reason(causes)}", "is the network up?", sent=False)
    return Unanswered(
        f"{name}: the connection to {at} broke: {_reason(causes)}",
        "try again; a proxy may be in between",
        sent=True,
    )


def rule(method: str, path: str, query: Mapping[str, str]) -> str:
    """Return the rule of a role that a request needs, as YAML on one line."""
    group, resource, name, _ = _parse_path(path)
    verb = _VERBS.get(method) or ("watch" if query.get("watch") else "get" if name else "list")
    names = f', resourceNames: ["{name}"]' if name and verb != "create" else ""
    return f'- {{apiGroups: ["{group}"], resources: ["{resource}"]{names}, verbs: ["{verb}"]}}'


def _permission_hint(method: str, path: str, query: Mapping[str, str], text: str) -> str:
    """Return what to ask for, and the role of ours that has it; nobody is impersonated by any of ours."""
    needed = _rule(method, path, query, text)
    return needed if _IMPERSONATING.search(text) else f"{needed}; {_role(method, path)} of {shipped.roles()} has it"


def _role(method: str, path: str) -> str:
    """Return the name of the role that has the rule for a request."""
    if method != "GET":
        return "schedctl-binder"
    return {"events": "schedctl-events", "configmaps": "schedctl-scheduler-config"}.get(
        _parse_path(path)[1], "schedctl-reader"
    )


def _rule(method: str, path: str, query: Mapping[str, str], text: str) -> str:
    """Return what to ask for; the server's words tell whether it is about the request or about impersonation."""
    if _IMPERSONATING.search(text):
        return f"the rule to ask for is {_impersonation_rule(text)}"
    space = _parse_path(path)[3]
    where = f" in a Role of namespace {space}" if space else ""
    return f"the rule to ask for is {rule(method, path, query)}{where}"


def _impersonation_rule(text: str) -> str:
    """Return the rule that lets somebody impersonate whom the server names, nobody else; as YAML on one line."""
    match = _IMPERSONATED.search(text)
    resource, names = (match[3], f', resourceNames: ["{match[2]}"]') if match else ("users", "")
    group = "authentication.k8s.io" if resource == "uids" or resource.startswith("userextras") else ""
    return f'- {{apiGroups: ["{group}"], resources: ["{resource}"]{names}, verbs: ["impersonate"]}}'


def _parse_path(path: str) -> tuple[str, str, str, str]:
    """Return the group, the resource with its subresource, the name and the namespace of a path."""
    parts = path.strip("/").split("/")
    group, rest = ("", parts[2:]) if parts[0] == "api" else (parts[1] if len(parts) > 1 else "", parts[3:])
    space = ""
    if len(rest) > 2 and rest[0] == "namespaces":
        space, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest, "", "", "")[:3]
    return group, f"{resource}/{subresource}" if subresource else resource, name, space


def _certificate_fault(error: ssl.SSLCertVerificationError, server: str) -> tuple[str, str]:
    """Return what is wrong with the certificate of a server, and the next step."""
    reason = error.verify_message or error.reason or "it cannot be verified"
    if "expired" in reason or "not yet valid" in reason:
        return (
            f"the certificate of {server} is out of date: {line(reason)}",
            "ask for a new one, or check this machine's clock",
        )
    if "match" in reason:
        hint = "use a name that is in it, or set tls-server-name in the kubeconfig"
        return f"the certificate of {server} is for another name: {line(reason)}", hint
    hint = "certificate-authority-data in the kubeconfig must be the one of the cluster"
    return f"the certificate of {server} is signed by an unknown authority: {line(reason)}", hint


def _is_about_reading(causes: list[BaseException]) -> bool:
    """Whether a fault of TLS came after the request was on its way."""
    return any(isinstance(cause, ssl.SSLEOFError | ssl.SSLZeroReturnError) for cause in causes)


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield an exception and what it wraps: as its cause, its context, its reason, or its arguments."""
    seen: set[int] = set()
    waiting: list[Any] = [error]
    while waiting:
        cause = waiting.pop(0)
        if not isinstance(cause, BaseException) or id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        waiting += [cause.__cause__, getattr(cause, "reason", None), getattr(cause, "original_error", None)]
        waiting += [*cause.args, cause.__context__]


def _reason(causes: list[BaseException]) -> str:
    """Return the innermost words there are, without the addresses of objects."""
    for cause in reversed(causes):
        if isinstance(cause, OSError) and cause.strerror:
            return line(cause.strerror.lower())
    text = line(str(causes[-1])) if causes else ""
    return re.sub(r"<[^>]* at 0x[0-9a-f]+>:? ?|\(_ssl\.c:\d+\)", "", text).strip() or type(causes[0]).__name__
