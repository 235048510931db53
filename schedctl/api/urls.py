"""The path of an ``aws://`` URL as Go reads it, with Go's complaints about URLs that are none.

Volume IDs may be written as URLs, and kube-scheduler's fault about a malformed one is the text of Go's ``net/url``.
Addresses in brackets, of which no volume ID has any, are taken as they are.
"""

from __future__ import annotations

import re
from urllib.parse import unquote

from schedctl.api.field_errors import quote

_CONTROL = re.compile(r"[\x00-\x1f\x7f]")
_PORT = re.compile(r"(:[0-9]*)?")
_USER = re.compile(r"[-A-Za-z0-9._:~!$&'()*+,;=%@]*")
_ESCAPE = re.compile(r"%(?![0-9A-Fa-f]{2}).{0,2}", re.DOTALL)
_ASCII_ESCAPE = re.compile(r"%(?!25)[0-7][0-9A-Fa-f]")
_NOT_IN_HOSTS = re.compile(r"""[\x00-\x7f](?<![-A-Za-z0-9._~!$&'()*+,;=:\[\]<>"%])""")


def path_of(url: str) -> str:
    """Return the path of a URL with a scheme and an authority, unescaped.

    Raises:
        ValueError: it is not a URL; the message is Go's.
    """
    whole, _, fragment = url.partition("#")
    try:
        path = _path(whole)
    except ValueError as fault:
        raise ValueError(f"parse {quote(whole)}: {fault}") from None
    try:
        _check_escapes(fragment)
    except ValueError as fault:
        raise ValueError(f"parse {quote(url)}: {fault}") from None
    return path


def _path(url: str) -> str:
    if _CONTROL.search(url):
        raise ValueError("net/url: invalid control character in URL")
    rest = url.partition("?")[0].partition("://")[2]
    authority, slash, path = rest.partition("/")
    user, _, host = authority.rpartition("@")
    if "[" not in host:
        port = host[host.rindex(":") :] if ":" in host else ""
        if not _PORT.fullmatch(port):
            raise ValueError(f"invalid port {quote(port)} after host")
        _check_host(host)
    if not _USER.fullmatch(user):
        raise ValueError("net/url: invalid userinfo")
    _check_escapes(user)
    path = slash + path
    _check_escapes(path)
    return unquote(path, errors="surrogateescape")


def _check_host(host: str) -> None:
    """Complain about the first character that no host may have, or the first escape that it may not."""
    faults = [found for rule in (_ESCAPE, _ASCII_ESCAPE, _NOT_IN_HOSTS) if (found := rule.search(host))]
    if not faults:
        return
    first = min(faults, key=lambda found: found.start())
    if first[0].startswith("%"):
        raise ValueError(f"invalid URL escape {quote(first[0])}")
    raise ValueError(f"invalid character {quote(first[0])} in host name")


def _check_escapes(text: str) -> None:
    if found := _ESCAPE.search(text):
        raise ValueError(f"invalid URL escape {quote(found[0])}")
