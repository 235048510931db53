"""How requests reach an API server, and as whom they are made: a kubeconfig or a pod's account, as connections.

TLS, proxies and authentication are those of the official Python client: it is given a kubeconfig of one context, and
its REST object makes the pool of connections. What kubectl accepts and the client (37.0.2) does not is put in terms it
does accept before that (`schedctl.live.kubeconfigs`, `schedctl.live.credential_plugins`), or added to its configuration
after.
"""

from __future__ import annotations

import datetime
import ipaddress
import os
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from urllib.parse import quote, unquote, urlencode, urlsplit

import msgspec

import schedctl
from schedctl.errors import ClusterError, UsageError
from schedctl.live import credential_plugins, faults, kubeconfigs, secrets
from schedctl.live.kubeconfigs import Access, Context

if TYPE_CHECKING:
    import urllib3
    from kubernetes.client import ApiClient, Configuration

CONNECT: Final = 10.0
"""Seconds until somebody must have picked up."""
SILENCE: Final = 75.0
"""Seconds for which a server may be silent within an answer; it gives up by itself after 60."""
NAMESPACE_FILE: Final = "namespace"
IN_CLUSTER: Final = "in-cluster"
_SOON = datetime.timedelta(seconds=20)
"""Credentials that expire so soon are as good as expired."""
_FAILED_FOR = 10.0
"""For how many seconds credentials that could not be had are not asked for again."""


class _Route(msgspec.Struct, frozen=True):
    """How a server is reached with one generation of credentials; threads see it change as a whole.

    Attributes:
        generation: how often credentials were renewed before.
        configuration: the client's.
        pool: the connections.
        server: the URL of the API server.
        proxy: the URL of the proxy, without a password; "" where there is none.
        compressed: whether answers may be.
        expires: when the credentials expire, None where nobody said.
        renewable: whether there can be others.
    """

    generation: int
    configuration: Configuration
    pool: urllib3.PoolManager
    server: str
    proxy: str
    compressed: bool
    expires: datetime.datetime | None
    renewable: bool


class Transport:
    """A pool of connections to one API server, for several threads.

    Attributes:
        name: how messages call the cluster: ``context prod`` or ``in-cluster``.
        namespace: the namespace of the context, "default" where it names none.
        user: who asks, for messages; "" where the kubeconfig does not say.
    """

    def __init__(self, access: Access) -> None:
        self._access = access
        self._renewing = threading.Lock()
        self._context = kubeconfigs.read(access.kubeconfig, access.context)
        if self._context is None and not _in_a_pod():
            raise _no_kubeconfig()
        self.name = f"context {self._context.name}" if self._context else IN_CLUSTER
        self.user = self._context.user_name if self._context else ""
        self._impersonation_headers = _impersonation_headers(access, self._context.user if self._context else {})
        self._route = self._make_route(0)
        self._failure: tuple[float, ClusterError] | None = None
        self.namespace = (self._context.namespace if self._context else _namespace_of_the_pod()) or "default"

    @property
    def server(self) -> str:
        """The URL of the API server."""
        return self._route.server

    @property
    def proxy(self) -> str:
        """The URL of the proxy, without a password; "" where there is none."""
        return self._route.proxy

    @property
    def generation(self) -> int:
        """How often credentials were renewed."""
        return self._route.generation

    def request(
        self, method: str, path: str, *, query: Mapping[str, str], body: bytes | None, timeout: float | None, kind: str
    ) -> urllib3.BaseHTTPResponse:
        """Send a request and return the answer as soon as it begins; nothing is repeated and no redirect followed.

        Args:
            method: e.g. ``GET``.
            path: without query.
            query: its fields.
            body: what to send, None for nothing.
            timeout: seconds between two signs of life, None for a patience of our own.
            kind: the media type of the body.

        Raises:
            urllib3.exceptions.HTTPError: it could not be sent, or nobody answered.
            ClusterError: the credentials have expired and cannot be had anew.
        """
        import urllib3  # as all that the client needs: 0.3 s, which who asks no cluster does not pay

        route = self._route  # once: another thread may renew it between two looks
        if route.expires is not None and route.expires - _SOON <= datetime.datetime.now(datetime.UTC):
            self.renew(route.generation)
            route = self._route
        headers = urllib3.HTTPHeaderDict(self._impersonation_headers)  # a header of each group
        headers["Accept"] = "application/json"
        headers["User-Agent"] = f"schedctl/{schedctl.__version__}"
        if route.compressed:
            headers["Accept-Encoding"] = "gzip"
        if body is not None:
            headers["Content-Type"] = kind
        authorization = route.configuration.get_api_key_with_prefix("BearerToken")
        if authorization:
            headers["Authorization"] = authorization.strip()
        return route.pool.request(
            method,
            f"{route.server}{path}" + (f"?{urlencode(query)}" if query else ""),
            body=body,
            headers=headers,
            timeout=urllib3.Timeout(connect=min(timeout or CONNECT, CONNECT), read=timeout or SILENCE),
            retries=False,
            redirect=False,
            preload_content=False,
        )

    def client(self) -> ApiClient:
        """Return an official client that reaches the server in the same way, on behalf of the same user.

        Raises:
            UsageError: several groups are impersonated, which that client cannot do.
        """
        from kubernetes.client import ApiClient

        client: Any = ApiClient(self._route.configuration)
        client.user_agent = f"schedctl/{schedctl.__version__} plugin"
        names = [name for name, _ in self._impersonation_headers]
        for name, value in self._impersonation_headers:
            if names.count(name) > 1:
                raise UsageError(
                    "the client of a plugin cannot impersonate several groups", "give one --as-group, or none"
                )
            client.set_default_header(name, value)
        return cast("ApiClient", client)

    def renew(self, generation: int) -> bool:
        """Get credentials anew, unless another thread has just done so; return whether they can be other ones.

        What has just failed for another thread is not tried again at once: a plugin that asks somebody to log in asks
        once, however many requests wait for it.

        Args:
            generation: `generation` when the credentials were used that are not good any more.

        Raises:
            ClusterError: they cannot be had.
        """
        if not self._route.renewable:
            return False
        with self._renewing:
            if generation != self.generation:  # another thread has renewed them while this one waited for the lock
                return True
            if self._failure is not None and time.monotonic() - self._failure[0] < _FAILED_FOR:
                raise ClusterError(str(self._failure[1]), self._failure[1].hint)
            try:
                self._route = self._make_route(generation + 1)
            except ClusterError as fault:
                self._failure = time.monotonic(), fault
                raise
        return True

    def _make_route(self, generation: int) -> _Route:
        """Make the configuration and the pool of one generation.

        Raises:
            ClusterError: what the kubeconfig names cannot be had.
        """
        from kubernetes.client import Configuration
        from kubernetes.client.rest import RESTClientObject

        configuration = Configuration()
        expires, renewable = None, True
        cluster: Mapping[str, Any] = self._context.cluster if self._context else {}
        if self._context is None:
            _load(lambda: _in_cluster(configuration), "the account of this pod")
        else:
            expires, renewable = self._load_context(self._context, configuration)
        server = configuration.host.rstrip("/")
        proxy = _through_proxy(configuration, server, str(cluster.get("proxy-url", "")))
        if not configuration.verify_ssl:
            import urllib3

            urllib3.disable_warnings(urllib3.exceptions.InsecureRequestWarning)  # the kubeconfig asks for it
        try:
            pool = RESTClientObject(configuration).pool_manager
        except Exception as error:  # a proxy of a kind that is unknown, a library that is missing
            raise ClusterError(f"{self.name}: {faults.line(str(error))}", "fix proxy-url in the kubeconfig") from None
        token = (configuration.get_api_key_with_prefix("BearerToken") or "").strip()
        secrets.remember(token, token.removeprefix("Bearer "), configuration.password or "")
        if not (token.isascii() and token.isprintable()):
            raise ClusterError(f"{self.name}: not a token: expected one line of ASCII characters", "log in again")
        compressed = not cluster.get("disable-compression")
        return _Route(generation, configuration, pool, server, proxy, compressed, expires, renewable)

    def _load_context(self, context: Context, configuration: Configuration) -> tuple[datetime.datetime | None, bool]:
        """Make the client's configuration from a context; return when it expires and whether there can be another."""
        from kubernetes.config import kube_config

        at = f'user "{context.user_name}"'
        provider = context.user.get("auth-provider")
        if provider:
            _check_provider(provider, at)
            # From the files, not from a tree as below: the client writes a refreshed OIDC token back, as kubectl does,
            # since the old refresh token may not work a second time.
            paths = os.pathsep.join(context.paths)
            load: Any = kube_config.load_kube_config
            _load(lambda: load(paths, context.name, configuration), at)
            return None, True
        for key in ("certificate-authority", "client-certificate", "client-key"):
            _check_file(context, key)
        user, expires = self._user(context)
        tree = {
            "current-context": context.name,
            "contexts": [{"name": context.name, "context": {"cluster": "cluster", "user": "user"}}],
            "clusters": [{"name": "cluster", "cluster": {**context.cluster, "server": _server(context)}}],
            "users": [{"name": "user", "user": user}],
        }
        read: Any = kube_config.load_kube_config_from_dict
        _load(lambda: read(tree, context.name, configuration, persist_config=False), f"context {context.name}")
        return _time(expires, at), "exec" in context.user or "tokenFile" in context.user

    def _user(self, context: Context) -> tuple[dict[str, Any], str]:
        """Return a user in the terms of the client, and when its credentials expire."""
        user, at = dict(context.user), f'user "{context.user_name}"'
        expires = ""
        if "tokenFile" in user:
            path = user.pop("tokenFile")
            try:
                token = Path(path).read_text(encoding="utf-8").strip()
            except (OSError, ValueError) as error:
                reason = (getattr(error, "strerror", "") or "it is not text").lower()
                if "token" not in user:
                    hint = "create the file, or get a new kubeconfig"
                    raise ClusterError(f"{at}: the token file {path} cannot be read: {reason}", hint) from None
            else:
                user["token"] = token  # of a file and a token beside it the file counts
        if "exec" in user:
            plugin = user.pop("exec")
            if "token" not in user:
                timeout = self._access.timeout
                credentials = credential_plugins.run(plugin, context.cluster, context.user_name, timeout)
                user |= credentials.fields
                expires = credentials.expires
        return user, expires


def _check_file(context: Context, key: str) -> None:
    """See to it that a file of certificates that a kubeconfig names can be read, if it is the one that counts.

    Raises:
        ClusterError: it cannot.
    """
    entry = context.cluster if key == "certificate-authority" else context.user
    path = entry.get(key)
    if not path or f"{key}-data" in entry:
        return
    try:
        Path(str(path)).open("rb").close()
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", "") or str(error)).lower()
        text = f"context {context.name}: the file {path}, its {key}, cannot be read: {reason}"
        raise ClusterError(text, "the kubeconfig names it: create the file, or get a new kubeconfig") from None


def _through_proxy(configuration: Configuration, server: str, proxy_url: str) -> str:
    """Set the proxy as kubectl would: the one that is named for all hosts, else that of the environment.

    Returns:
        Its URL without a password, "" where there is none.

    Raises:
        ClusterError: what is named is no URL.
    """
    import urllib3
    from kubernetes.client.rest import should_bypass_proxies

    if proxy_url:  # whatever $NO_PROXY says
        configuration.proxy, configuration.no_proxy = proxy_url, ""
    elif _is_this_machine(server) or should_bypass_proxies(server, configuration.no_proxy or ""):
        configuration.proxy = None
    proxy = configuration.proxy or ""
    try:
        parts = urlsplit(proxy)
    except ValueError:
        raise ClusterError("proxy-url: not a URL", "fix proxy-url in the kubeconfig, or $HTTPS_PROXY") from None
    if parts.scheme == "socks5":
        configuration.proxy = f"socks5h{proxy[len('socks5') :]}"  # the proxy looks names up, as with kubectl
    elif parts.username is not None:
        basic = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        configuration.proxy_headers = urllib3.make_headers(proxy_basic_auth=basic)
    return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}" if proxy else ""


def _load(load: Callable[[], object], what: str) -> None:
    """Let the client read something, and say in one line what it does not like."""
    try:
        load()
    except Exception as error:  # whatever it stumbles over: files, base64, a login server
        reason = str(error).strip().splitlines() or [type(error).__name__]
        text = faults.line(reason[0])
        raise ClusterError(f"{what}: the credentials cannot be used: {text}", "log in again") from None


def _in_cluster(configuration: Configuration) -> None:
    from kubernetes.config import incluster_config

    load: Any = incluster_config.load_incluster_config
    load(configuration)


def _in_a_pod() -> bool:
    """Whether this runs in a pod that has an account."""
    from kubernetes.config import incluster_config

    return (
        bool(os.environ.get(incluster_config.SERVICE_HOST_ENV_NAME))
        and Path(incluster_config.SERVICE_TOKEN_FILENAME).exists()
    )


def _namespace_of_the_pod() -> str:
    from kubernetes.config import incluster_config

    try:
        path = Path(incluster_config.SERVICE_TOKEN_FILENAME).with_name(NAMESPACE_FILE)
        return path.read_text(encoding="utf-8").strip()
    except (OSError, ValueError):
        return ""


def _no_kubeconfig() -> ClusterError:
    where = " and ".join(kubeconfigs.sources(""))
    return ClusterError(
        f"no kubeconfig in {where}, and not running inside a cluster",
        f"`--kubeconfig FILE` or ${kubeconfigs.VARIABLE} names one; {kubeconfigs.WITHOUT}",
    )


def _server(context: Context) -> str:
    """Return the URL of the API server; without a scheme it is TLS if there is anything about TLS.

    Raises:
        ClusterError: the cluster names none.
    """
    server = context.cluster.get("server")
    if not isinstance(server, str):
        raise ClusterError(f"the cluster of context {context.name} names no server", "`kubectl config set-cluster`")
    if "://" in server:
        return server
    tls = any(key.startswith(("certificate-", "client-", "insecure-")) for key in {*context.cluster, *context.user})
    return f"{'https' if tls else 'http'}://{server}"


def _check_provider(provider: Any, at: str) -> None:
    name = provider.get("name") if isinstance(provider, dict) else None
    if name != "oidc":
        raise ClusterError(
            f'{at}: auth provider "{name}" is no longer supported, nor by kubectl',
            "credential plugins replace auth providers; get a new kubeconfig",
        )


def _impersonation_headers(access: Access, user: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the headers that say on whose behalf we ask.

    Raises:
        UsageError: there are groups and no user.
    """
    name = access.user or user.get("as", "")
    groups = access.groups or tuple(user.get("as-groups", ()))
    uid = "" if access.user else user.get("as-uid", "")
    extra = user.get("as-user-extra", {})
    if not name:
        if groups or uid or extra:
            raise UsageError("impersonating a group needs a user", "add `--as USER`")
        return []
    headers = [("Impersonate-User", name), *(("Impersonate-Group", group) for group in groups)]
    if uid:
        headers.append(("Impersonate-Uid", uid))
    if not access.user:
        headers += [(f"Impersonate-Extra-{quote(key, safe='')}", one) for key in extra for one in extra[key]]
    for header, value in headers:
        if not value.isprintable():
            raise UsageError(f"{header.rpartition('-')[2].lower()} to impersonate: not a name", "a name is one line")
    return [(header, value.encode().decode("latin-1")) for header, value in headers]  # the bytes that are sent


def _is_this_machine(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _time(text: str, at: str) -> datetime.datetime | None:
    """Return a time of RFC 3339, None for ""."""
    if not text:
        return None
    try:
        found = datetime.datetime.fromisoformat(text)
    except ValueError:
        raise ClusterError(
            f"{at}: the credential plugin returned an expirationTimestamp that is not a time", "update the plugin"
        ) from None
    return found if found.tzinfo else found.replace(tzinfo=datetime.UTC)
