"""Credential plugins: programs that a kubeconfig names, and that print a token or a certificate.

The protocol is Kubernetes' ``client.authentication.k8s.io``. The Python client speaks it as well, but it goes on
without credentials when a plugin fails, takes no token and certificate together, and knows neither ``installHint`` nor
``interactiveMode``; so plugins are run here, and what they answer goes into the configuration as if it were written in
the kubeconfig.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from schedctl.errors import ClusterError
from schedctl.live import faults, secrets

VERSIONS: Final = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
EXTENSION: Final = "client.authentication.k8s.io/exec"
_CLUSTER_FIELDS = (
    "server",
    "tls-server-name",
    "insecure-skip-tls-verify",
    "certificate-authority-data",
    "proxy-url",
    "disable-compression",
)
"""What a plugin that asks for it is told of the cluster."""
_SECRET_VARIABLE = re.compile("token|secret|passw|credential|key", re.IGNORECASE)
_PRINTED_TOKEN = re.compile(r'"token"\s*:\s*"([^"\\]+)')


class Credentials(msgspec.Struct, frozen=True):
    """What a plugin answered.

    Attributes:
        fields: the fields of a kubeconfig's user that say the same.
        expires: when they expire, RFC 3339, "" where nobody said.
    """

    fields: Mapping[str, str]
    expires: str = ""


def run(plugin: Any, cluster: Mapping[str, Any], user: str, timeout: float | None = None) -> Credentials:
    """Run a plugin and return its credentials.

    Args:
        plugin: the ``exec`` of a user.
        cluster: the fields of the cluster.
        user: whose it is, for messages.
        timeout: how many seconds it has, None for as many as it takes, such as a login in a browser.

    Raises:
        ClusterError: it is not there, fails, takes too long, or answers what cannot be understood.
    """
    command, arguments, version = _check(plugin, user)
    name = Path(command).name
    hint = _hint(plugin)
    interactive = _interactive(plugin, name, version)
    spec: dict[str, Any] = {"interactive": interactive}
    if plugin.get("provideClusterInfo"):
        spec["cluster"] = _cluster_info(cluster)
    info = json.dumps({"apiVersion": version, "kind": "ExecCredential", "spec": spec})
    variables = {one["name"]: one.get("value", "") for one in plugin.get("env") or ()}
    environment = {**os.environ, **variables, "KUBERNETES_EXEC_INFO": info}
    who = f'user "{user}": the credential plugin {name}'
    if shutil.which(command, path=environment.get("PATH")) is None:
        raise ClusterError(f"{who} is not installed", hint)
    try:
        process = subprocess.run(
            [command, *arguments],
            env=environment,
            stdin=None if interactive else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=None if interactive else subprocess.PIPE,  # questions go to the terminal
            check=False,
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        text = f"{who} gave no credentials within {timeout:g} s"
        raise ClusterError(text, "a longer `--request-timeout` may help; it may wait for a login") from None
    except (OSError, ValueError) as error:
        reason = (getattr(error, "strerror", "") or str(error)).lower()
        raise ClusterError(f"{who} cannot be run: {reason}", hint) from None
    if process.returncode:  # of standard output nothing is ever shown: tokens are there
        _remember_secrets(variables, process.stdout)
        lines = (process.stderr or b"").decode(errors="replace").strip().splitlines()
        text = f"{who} failed with exit status {process.returncode}"
        raise ClusterError(f"{text}: {faults.line(lines[-1])}" if lines else text, hint)
    return _credentials(process.stdout, version, who)


def _remember_secrets(variables: Mapping[str, str], output: bytes) -> None:
    """Take down what a plugin was given and what it printed that its standard error may show as well."""
    secrets.remember(*(value for name, value in variables.items() if _SECRET_VARIABLE.search(name)))
    secrets.remember(*_PRINTED_TOKEN.findall(output.decode(errors="replace")))


def _check(plugin: Any, user: str) -> tuple[str, list[str], str]:
    """Return the command, its arguments and the version of the protocol."""
    at = f'user "{user}": exec'
    if not isinstance(plugin, dict):
        raise ClusterError(f"{at}: expected a mapping", "`kubectl config view` shows it")
    command, version, arguments = plugin.get("command"), plugin.get("apiVersion"), plugin.get("args") or []
    if not isinstance(command, str) or not command:
        raise ClusterError(f"{at} names no command", "`kubectl config view` shows it")
    if version not in VERSIONS:
        found = f'"{version}"' if version else "none"
        raise ClusterError(f"{at}: apiVersion: expected {' or '.join(VERSIONS)}, got {found}", "update the kubeconfig")
    variables = plugin.get("env") or []
    if not isinstance(arguments, list) or not isinstance(variables, list):
        raise ClusterError(f"{at}: args and env are lists", "`kubectl config view` shows it")
    for number, one in enumerate(variables):
        pair = [one.get("name"), one.get("value", "")] if isinstance(one, dict) else []
        if not pair or not all(isinstance(text, str) for text in pair) or not pair[0] or "=" in pair[0]:
            raise ClusterError(f"{at}: env[{number}]: expected a name and a value", "`kubectl config view` shows it")
    return command, [str(argument) for argument in arguments], str(version)


def _hint(plugin: Mapping[str, Any]) -> str:
    lines = [line.strip() for line in str(plugin.get("installHint") or "").splitlines() if line.strip()]
    return " ".join(lines) or "`kubectl get nodes` runs the same plugin"


def _interactive(plugin: Mapping[str, Any], name: str, version: str) -> bool:
    """Whether the plugin gets the terminal.

    Raises:
        ClusterError: it needs one and there is none.
    """
    # v1 requires the field, v1beta1 has a default for it.
    mode = plugin.get("interactiveMode") or ("IfAvailable" if version == VERSIONS[1] else "")
    if mode not in ("Never", "IfAvailable", "Always"):
        raise ClusterError(
            f"exec: interactiveMode of {name}: expected Never, IfAvailable or Always",
            "set interactiveMode in the kubeconfig",
        )
    available = sys.stdin is not None and sys.stdin.isatty()
    if mode == "Always" and not available:
        raise ClusterError(
            f"the credential plugin {name} needs to prompt, and standard input is not a terminal", "log in first"
        )
    return available and mode != "Never"


def _cluster_info(cluster: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a plugin learns of the cluster."""
    info = {key: cluster[key] for key in _CLUSTER_FIELDS if key in cluster}
    if "certificate-authority-data" not in info and "certificate-authority" in cluster:
        try:
            authority = Path(cluster["certificate-authority"]).read_bytes()
        except OSError:
            authority = b""  # who opens the connection says what is wrong with the file
        info["certificate-authority-data"] = b64encode(authority).decode()
    for extension in cluster.get("extensions") or ():
        if isinstance(extension, dict) and extension.get("name") == EXTENSION:
            info["config"] = extension.get("extension")
    return info


def _credentials(output: bytes, version: str, who: str) -> Credentials:
    """Return what is in an ExecCredential.

    Raises:
        ClusterError: it is none, or holds no credentials.
    """
    try:
        answer = json.loads(output)
    except (ValueError, RecursionError):
        answer = None
    status = answer.get("status") if isinstance(answer, dict) else None
    if not isinstance(answer, dict) or answer.get("kind") != "ExecCredential" or not isinstance(status, dict):
        raise ClusterError(f"{who} printed no ExecCredential", "`kubectl get nodes` runs the same plugin")
    if answer.get("apiVersion") != version:
        raise ClusterError(f"{who} did not answer in {version}", "set the apiVersion in the kubeconfig to the plugin's")
    token, certificate, key = (status.get(name) for name in ("token", "clientCertificateData", "clientKeyData"))
    if not all(isinstance(each, str | None) for each in (token, certificate, key)):
        raise ClusterError(f"{who}: token, clientCertificateData and clientKeyData are text", "update the plugin")
    if not (token or certificate) or bool(certificate) != bool(key):
        raise ClusterError(f"{who} gave neither a token nor a certificate with its key", "log in again")
    fields: dict[str, str] = {}
    if token:
        fields["token"] = token
    if certificate and key:
        fields["client-certificate-data"] = b64encode(certificate.encode(errors="replace")).decode()
        fields["client-key-data"] = b64encode(key.encode(errors="replace")).decode()
    return Credentials(fields, str(status.get("expirationTimestamp") or ""))
