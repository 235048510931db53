"""An API server in memory, as far as binding goes: resourceVersions, preconditions, subresources, dry runs."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any
from urllib.parse import unquote

import msgspec

from schedctl.api.kinds import KINDS, kind_named
from schedctl.live.connections import Answer
from schedctl.live.faults import refusal
from schedctl.live.listing import KindPage, Listing
from schedctl.live.objects import collection, path_of

Object = dict[str, Any]
_KEPT = ("extendedResourceClaimStatus",)
"""What an API server keeps of a status when it is left out."""
Hook = Callable[[str, str], None]


class PretendServer:
    """A `Connection` to objects in memory.

    Attributes:
        objects: by path.
        asked: every request that was sent, as (method, path, dry run).
        before: called before each request with its method and path; it may change anything, or raise.
    """

    name, namespace = "context pretended", "default"
    client = "a client"

    def __init__(self, *objects: Object) -> None:
        self.objects: dict[str, Object] = {}
        self.events: list[Object] = []
        self.requests: list[tuple[str, str, bool]] = []
        self.before: Hook = lambda method, path: None
        self._versions, self._uids = count(100), count(1)
        for obj in objects:
            self.put(obj)

    # -- what tests do ------------------------------------------------------------

    def put(self, obj: Object) -> Object:
        """Create an object or replace it, as its owner would."""
        path = self.path(obj)
        before = self.objects.get(path)
        uid = before["metadata"]["uid"] if before else f"uid-{next(self._uids)}"
        metadata = {**obj["metadata"], "uid": uid}
        stored = {**obj, "metadata": {**metadata, "resourceVersion": str(next(self._versions))}}
        self.objects[path] = copy.deepcopy(stored)
        return stored

    def change(self, path: str, change: Callable[[Object], None]) -> None:
        """Change an object in place."""
        obj = self.objects[path]
        change(obj)
        obj["metadata"]["resourceVersion"] = str(next(self._versions))

    def delete(self, path: str) -> None:
        del self.objects[path]

    @staticmethod
    def path(obj: Object) -> str:
        metadata, kind = obj["metadata"], kind_named(obj["kind"])
        return path_of(kind, f"{metadata['namespace']}/{metadata['name']}" if kind.namespaced else metadata["name"])

    def list_objects(self) -> Listing:
        """Return what a listing of all kinds would be."""
        pages = []
        for kind in KINDS:
            items = [obj for obj in self.objects.values() if obj["kind"] == kind.name]
            if items:
                body = {"kind": f"{kind.name}List", "apiVersion": kind.api_version, "items": items}
                pages.append(KindPage(kind, msgspec.json.encode(body)))
        return Listing(tuple(pages), (), {}, "v1.37.1", "2026-01-01T00:00:00Z")

    # -- a Connection -------------------------------------------------------------

    def get(self, path: str, query: Mapping[str, str] | None = None) -> Answer:
        self.before("GET", path)
        self.requests.append(("GET", path, False))
        kind = next((each for each in KINDS if collection(each) == path), None)
        if kind is None:
            return _answer(self._find(path))
        items = [obj for obj in self.objects.values() if obj["kind"] == kind.name]
        field, _, value = (query or {}).get("fieldSelector", "").partition("=")
        if field:
            items = [obj for obj in items if obj["spec"].get("nodeName", "") == value]
        return _answer({"kind": f"{kind.name}List", "metadata": {}, "items": items})

    def send(
        self, method: str, path: str, body: Any, query: Mapping[str, str] | None = None, kind: str = "application/json"
    ) -> Answer:
        dry = (query or {}).get("dryRun") == "All"
        self.before(f"{method} dry" if dry else method, path)
        self.requests.append((method, path, dry))
        kept = (self.objects, self.events) if dry else None
        if dry:
            self.objects, self.events = copy.deepcopy(kept)
        try:
            return _answer(self._send(method, path, msgspec.json.decode(msgspec.json.encode(body)), dry))
        finally:
            if kept is not None:
                self.objects, self.events = kept

    def writes(self) -> list[str]:
        """What was sent that changes something, and that is no dry run."""
        return [f"{method} {path}" for method, path, dry in self.requests if method != "GET" and not dry]

    def _send(self, method: str, path: str, body: Object, dry: bool) -> Object:
        if path.endswith("/events"):
            self.events.append(body)
            return body
        if path.endswith("/binding"):
            return self._bind(path.removesuffix("/binding"), body)
        if method == "POST":
            name = body["metadata"].get("name") or f"{body['metadata']['generateName']}abcde"
            return self.put({**body, "metadata": {**body["metadata"], "name": name}})
        if method == "DELETE":
            self._find(path)
            self.delete(path)
            return {}
        whole, part = (path.removesuffix("/status"), "status") if path.endswith("/status") else (path, "")
        stored = self._find(whole)
        if body["metadata"].get("resourceVersion") != stored["metadata"]["resourceVersion"]:
            raise self._no(method, path, 409, "Conflict", "the object has been modified")
        if part:
            kept = {key: value for key, value in stored.get("status", {}).items() if key in _KEPT}
            return self.put({**stored, "status": {**kept, **body.get("status", {})}})
        return self.put({**body, **({"status": stored["status"]} if "status" in stored else {})})

    def _bind(self, path: str, body: Object) -> Object:
        pod = self._find(path)
        for precondition in ("uid", "resourceVersion"):
            expected = body["metadata"].get(precondition)
            if expected and expected != pod["metadata"][precondition]:
                raise self._no("POST", f"{path}/binding", 409, "Conflict", f"Precondition failed: {precondition}")
        if pod["spec"].get("nodeName"):
            raise self._no("POST", f"{path}/binding", 409, "Conflict", "pod is already assigned")
        self.change(path, lambda obj: obj["spec"].update(nodeName=body["target"]["name"]))
        return {"kind": "Status", "status": "Success"}

    def _find(self, path: str) -> Object:
        if unquote(path) not in self.objects:
            raise self._no("GET", path, 404, "NotFound", f"{path} not found")
        return self.objects[unquote(path)]

    def _no(self, method: str, path: str, code: int, reason: str, text: str) -> Exception:
        status = {"kind": "Status", "status": "Failure", "code": code, "reason": reason, "message": text}
        return refusal(self.name, method, path, {}, code, msgspec.json.encode(status))

    def forbid(self, method: str, path: str) -> Exception:
        """What the server says to somebody without the right."""
        return self._no(method, path, 403, "Forbidden", f"cannot {method} {path}")


def _answer(body: Object) -> Answer:
    return Answer(msgspec.json.encode(body), {})
