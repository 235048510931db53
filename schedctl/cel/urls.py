"""URLs, read as Go's net/url reads them.

Texts are handled as bytes shown as Latin-1 characters, for a URL may escape bytes that are not text.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from schedctl.cel import values
from schedctl.cel.declarations import declare
from schedctl.cel.networks import AddressError, parse_address
from schedctl.cel.values import Failure, Value

_UNRESERVED = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~")
_HOST = _UNRESERVED | frozenset("!$&'()*+,;=:[]<>\"")
_PATH = _UNRESERVED | frozenset("$&+,/:;=@")
_USER = _UNRESERVED | frozenset("$&+,;=")
_FRAGMENT = _UNRESERVED | frozenset("$&+,/:;=?@!()*")
_LEFT_ALONE = frozenset("!$&'()*+,;=:@[]%")
_USER_INFO = re.compile(r"[A-Za-z0-9\-._:~!$&'()*+,;=%@]*")
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+\-.]*:")
_PORT = re.compile("(?::[0-9]*)?")


class UrlError(ValueError):
    """A text that is not a URL; says why in Go's words."""


class _Url(NamedTuple):
    scheme: str = ""
    opaque: str = ""
    user: tuple[str, str | None] | None = None
    host: str = ""
    path: str = ""
    written_path: str = ""
    force_query: bool = False
    query: str = ""
    omit_host: bool = False
    fragment: str = ""
    written_fragment: str = ""

    @property
    def escaped_path(self) -> str:
        return "*" if self.path == "*" else _escape_as_written(self.path, self.written_path, _PATH)

    def __str__(self) -> str:
        text = f"{self.scheme}:" if self.scheme else ""
        if self.opaque:
            text += self.opaque
        else:
            text += self._hierarchy(text)
        if self.force_query or self.query:
            text += f"?{self.query}"
        if self.fragment:
            text += f"#{_escape_as_written(self.fragment, self.written_fragment, _FRAGMENT)}"
        return text

    def _hierarchy(self, before: str) -> str:
        text = ""
        if (self.scheme or self.host or self.user) and not (self.omit_host and not self.host and not self.user):
            if self.host or self.path or self.user:
                text = "//"
            if self.user:
                name, password = self.user
                text += _escape(name, _USER) + ("" if password is None else ":" + _escape(password, _USER)) + "@"
            text += _escape(self.host, _HOST)
        path = self.escaped_path
        if path and path[0] != "/" and self.host:
            text += "/"
        if not before + text and ":" in path.partition("/")[0]:
            text = "./"
        return text + path


class URL(values.Opaque):
    """A URL as a value."""

    __slots__ = ("parts",)
    type_name = "kubernetes.URL"

    def __init__(self, parts: _Url) -> None:
        self.parts = parts

    def equals(self, other: Value) -> bool | Failure:
        """Return whether both print the same."""
        return str(self.parts) == str(other.parts) if isinstance(other, URL) else values.failure_or_no_overload(other)


def parse_request(text: str) -> _Url:
    """Return the parts of an absolute URL or path, a fragment being part of what precedes it.

    Raises:
        UrlError: it is neither.
    """
    return _parse(text.encode(errors="surrogatepass").decode("latin-1"), text, request=True)


def _parse_url(text: str) -> _Url:
    raw = text.encode(errors="surrogatepass").decode("latin-1")
    before, _, fragment = raw.partition("#")
    parts = _parse(before, text.partition("#")[0], request=False)
    if not fragment:
        return parts
    try:
        plain = _unescape(fragment)
    except UrlError as error:
        raise _failure(text, str(error)) from None
    return parts._replace(fragment=plain, written_fragment="" if _escape(plain, _FRAGMENT) == fragment else fragment)


def _failure(text: str, why: str) -> UrlError:
    return UrlError(f"parse {values.go_quoted(text)}: {why}")


def _parse(raw: str, text: str, *, request: bool) -> _Url:
    try:
        return _parts(raw, request)
    except UrlError as error:
        raise _failure(text, str(error)) from None


def _parts(raw: str, request: bool) -> _Url:
    if any(c < " " or c == "\x7f" for c in raw):
        raise UrlError("net/url: invalid control character in URL")
    if not raw and request:
        raise UrlError("empty url")
    if raw == "*":
        return _Url(path="*")
    if raw.startswith(":"):
        raise UrlError("missing protocol scheme")
    scheme = _SCHEME.match(raw)
    rest = raw[scheme.end() :] if scheme else raw
    url = _Url(scheme=scheme[0][:-1].lower() if scheme else "")
    if rest.endswith("?") and rest.count("?") == 1:
        url, rest = url._replace(force_query=True), rest[:-1]
    else:
        rest, _, query = rest.partition("?")
        url = url._replace(query=query)
    if not rest.startswith("/"):
        if url.scheme:
            return url._replace(opaque=rest)
        if request:
            raise UrlError("invalid URI for request")
        if ":" in rest.partition("/")[0]:
            raise UrlError("first path segment in URL cannot contain colon")
    if (url.scheme or (not request and not rest.startswith("///"))) and rest.startswith("//"):
        authority, slash, path = rest[2:].partition("/")
        user, host = _authority(url.scheme, authority)
        url, rest = url._replace(user=user, host=host), slash + path
    elif url.scheme and rest.startswith("/"):
        url = url._replace(omit_host=True)
    path = _unescape(rest)
    return url._replace(path=path, written_path="" if _escape(path, _PATH) == rest else rest)


def _authority(scheme: str, authority: str) -> tuple[tuple[str, str | None] | None, str]:
    info, at, host = authority.rpartition("@")
    host = _host(scheme, host)
    if not at:
        return None, host
    if not _USER_INFO.fullmatch(info):
        raise UrlError("net/url: invalid userinfo")
    name, colon, password = info.partition(":")
    return (_unescape(name), _unescape(password) if colon else None), host


def _host(scheme: str, host: str) -> str:
    bracket = host.rfind("[")
    if bracket > 0:
        raise UrlError("invalid IP-literal")
    if bracket == 0:
        return _literal(host)
    colon = host.find(":")
    if colon >= 0 and scheme not in ("http", "https"):
        colon = host.rfind(":")
    if colon >= 0 and not _PORT.fullmatch(host[colon:]):
        raise UrlError(f"invalid port {_quote(host[colon:])} after host")
    return _unescape(host, _HOST)


def _literal(host: str) -> str:
    end = host.rfind("]")
    if end < 0:
        raise UrlError("missing ']' in host")
    port = host[end + 1 :]
    if not _PORT.fullmatch(port):
        raise UrlError(f"invalid port {_quote(port)} after host")
    name = host[1:end]
    zone = name.find("%25")
    if zone >= 0:
        name = _unescape(name[:zone], _HOST) + _unescape(name[zone:], _HOST, zone=True)
    else:
        name = _unescape(name, _HOST)
    try:
        address = parse_address(_text(name))
    except AddressError as error:
        raise UrlError(f"invalid host: {error}") from None
    if address.bits == 32:
        raise UrlError("invalid IP-literal")
    return f"[{name}]{port}"


# --- Escapes ------------------------------------------------------------------------------------------------------


def _unescape(text: str, host: frozenset[str] | None = None, *, zone: bool = False, plus: bool = False) -> str:
    """Return the text with ``%41`` replaced; in hosts only some may be escaped, and only some may not."""
    parts, at = [], 0
    while at < len(text):
        c = text[at]
        if c == "%":
            digits = text[at + 1 : at + 3]
            escape = text[at : at + 3]
            if not re.fullmatch("[0-9a-fA-F]{2}", digits):
                raise UrlError(f"invalid URL escape {_quote(escape)}")
            value = chr(int(digits, 16))
            if host is not None and escape != "%25":
                refused = (value != " " and value not in host) if zone else value < "\x80"
                if refused:
                    raise UrlError(f"invalid URL escape {_quote(escape)}")
            parts.append(value)
            at += 3
            continue
        if host is not None and c < "\x80" and c not in host:
            raise UrlError(f"invalid character {_quote(c)} in host name")
        parts.append(" " if plus and c == "+" else c)
        at += 1
    return "".join(parts)


def _escape(text: str, plain: frozenset[str]) -> str:
    return "".join(c if c in plain else f"%{ord(c):02X}" for c in text)


def _escape_as_written(text: str, written: str, plain: frozenset[str]) -> str:
    """Return a text escaped, in the way it was written if that is a valid one."""
    if written and all(c in plain or c in _LEFT_ALONE for c in written):
        return written
    return _escape(text, plain)


def _text(raw: str) -> str:
    return raw.encode("latin-1").decode(errors="surrogateescape")


def _quote(raw: str) -> str:
    return values.go_quoted(_text(raw))


def _query(url: URL) -> values.Map:
    found: dict[str, list[Value]] = {}
    for pair in url.parts.query.split("&"):
        if not pair or ";" in pair:
            continue
        key, _, value = pair.partition("=")
        try:
            key, value = _unescape(key, plus=True), _unescape(value, plus=True)
        except UrlError:
            continue
        found.setdefault(_text(key), []).append(_text(value))
    return values.Map(found)


def _url(text: str) -> Value:
    try:
        # Upstream looks first whether it is an absolute URL, then parses it again with its fragment.
        parse_request(text)
        return URL(_parse_url(text))
    except UrlError as error:
        return Failure(f"URL parse error during conversion from string: {error}")


def _is_url(text: str) -> bool:
    try:
        parse_request(text)
    except UrlError:
        return False
    return True


def _split_host(host: str) -> tuple[str, str]:
    colon = host.rfind(":")
    port = ""
    if colon >= 0 and _PORT.fullmatch(host[colon:]):
        host, port = host[:colon], host[colon + 1 :]
    if host.startswith("[") and host.endswith("]"):
        host = host[1:-1]
    return host, port


LIBRARY = [
    declare("url string_to_url (string) URL", _url),
    declare("isURL is_url_string (string) bool", _is_url),
    declare(".getScheme url_get_scheme (URL) string", lambda url: url.parts.scheme),
    declare(".getHost url_get_host (URL) string", lambda url: _text(url.parts.host)),
    declare(".getHostname url_get_hostname (URL) string", lambda url: _text(_split_host(url.parts.host)[0])),
    declare(".getPort url_get_port (URL) string", lambda url: _split_host(url.parts.host)[1]),
    declare(".getEscapedPath url_get_escaped_path (URL) string", lambda url: url.parts.escaped_path),
    declare(".getQuery url_get_query (URL) map(string, list(string))", _query),
]
