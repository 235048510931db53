"""Traces of other people's clusters, as pods that arrive: the CSV of openb, and the timeline that ``--trace`` writes.

A gap in a trace is a mistake with its line, never a guess. How to bring another trace is told in ``docs/studies.md``.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec

from schedctl.api import defaults
from schedctl.api.meta import ObjectMeta
from schedctl.api.nodes import Node
from schedctl.api.pods import Pod, PodStatus
from schedctl.cache.pod_info import PodInfo
from schedctl.errors import InputError, Problem
from schedctl.reports import counts
from schedctl.session import traces
from schedctl.simulation import timeline

GPU, GPU_COUNT = "alibabacloud.com/gpu-milli", "alibabacloud.com/gpu-count"
"""The resource of openb's nodes, and with it the annotations of its pods: how much of each device, and how many."""
_OPENB_PODS = ("name", "cpu_milli", "memory_mib", "num_gpu", "gpu_milli", "creation_time", "deletion_time")
_OPENB_NODES = ("sn", "cpu_milli", "memory_mib", "gpu")
_MOST_PODS = "1001"
_ANY_GPU = 1000
_NAMED = 5
"""How many pods a message names."""
_NUMBER = re.compile(r"[0-9]{1,18}")


class TracedPod(msgspec.Struct, frozen=True):
    """A pod of a trace, of which any number can be made.

    Attributes:
        name: its name in the trace.
        model: the pod.
        arrives: seconds after the beginning of the trace.
        lifetime: seconds that it runs, None for good.
    """

    name: str
    model: PodInfo
    arrives: float = 0.0
    lifetime: float | None = None

    def copy(self, name: str) -> PodInfo:
        """Return a pod like it of another name, which may have a namespace in front, as in timelines."""
        pod = self.model.pod
        metadata = msgspec.structs.replace(pod.metadata, name=name.rpartition("/")[2], uid=name)
        made = PodInfo(msgspec.structs.replace(pod, metadata=metadata))
        made.take_demand(self.model)
        return made


def read_openb_nodes(path: str) -> list[Node]:
    """Return the nodes of a list of openb; each GPU offers 1,000 of `GPU`.

    Raises:
        InputError: it cannot be read, or something is missing or no number; with every line.
    """
    nodes = []
    for row in _rows(path, _OPENB_NODES, numbers=_OPENB_NODES[1:]):
        offered = {"cpu": f"{row['cpu_milli']}m", "memory": f"{row['memory_mib']}Mi", "pods": _MOST_PODS}
        if row["gpu"]:
            offered[GPU] = str(_ANY_GPU * row["gpu"])
        labels = {"kubernetes.io/hostname": row["sn"]}
        if row.get("model"):
            labels["alibabacloud.com/gpu-card-model"] = row["model"]
        nodes.append({"metadata": {"name": row["sn"], "labels": labels}, "status": {"allocatable": offered}})
    return msgspec.convert(nodes, list[Node])


def read_openb_pods(path: str) -> list[TracedPod]:
    """Return the pods of a list of openb, in the order of the file.

    What they ask of GPUs stands in two annotations, `GPU_COUNT` and `GPU`, and not among their requests.

    Raises:
        InputError: it cannot be read, or something is missing or no number; with every line.
    """
    models: dict[tuple[int, ...], PodInfo] = {}
    found = []
    for row in _rows(path, _OPENB_PODS, numbers=_OPENB_PODS[1:]):
        shape = tuple(row[name] for name in ("cpu_milli", "memory_mib", "num_gpu", "gpu_milli"))
        if shape not in models:
            models[shape] = _openb_model(*shape)
        lifetime = float(row["deletion_time"] - row["creation_time"])
        found.append(TracedPod(row["name"], models[shape], float(row["creation_time"]), lifetime))
    return found


def read_timeline(path: str, pods: Mapping[str, Pod]) -> list[TracedPod]:
    """Return the pods of a timeline that ``--trace`` wrote, in the order of their arrival.

    Args:
        path: the file.
        pods: what the pods are, by ``namespace/name``; a timeline has their names alone.

    Raises:
        InputError: it cannot be read, or has a pod of which nobody says what it is.
    """
    arrived: dict[str, float] = {}
    bound: dict[str, float] = {}
    gone: dict[str, float] = {}
    unknown: dict[str, None] = {}
    for record in traces.read(path):
        if isinstance(record, timeline.Moved) and not record.before and record.to:
            if record.pod not in pods:
                unknown[record.pod] = None
            arrived.setdefault(record.pod, record.at)
        elif isinstance(record, timeline.Bound):
            bound.setdefault(record.pod, record.at)
        elif isinstance(record, timeline.Gone):
            gone[record.pod] = record.at
    if unknown:
        names = ", ".join([*unknown][:_NAMED]) + (f" and {len(unknown) - _NAMED} more" if len(unknown) > _NAMED else "")
        message = f"{counts.of(len(unknown), 'pod')} of the timeline in none of the manifests: {names}"
        hint = "`manifests` beside `timeline` names the files that say what its pods are"
        raise InputError([Problem(message, path, hint=hint)])
    if not arrived:
        raise InputError([Problem("no pod arrives in this timeline", path)])
    return [
        TracedPod(key, _model(pods[key]), at, gone[key] - bound[key] if key in gone and key in bound else None)
        for key, at in arrived.items()
    ]


def _model(pod: Pod) -> PodInfo:
    spec = msgspec.structs.replace(pod.spec, node_name="")
    return PodInfo(defaults.pod(msgspec.structs.replace(pod, spec=spec, status=PodStatus(phase="Pending"))))


def _openb_model(cpu: int, memory: int, gpus: int, milli: int) -> PodInfo:
    requests = {"cpu": f"{cpu}m", "memory": f"{memory}Mi"}
    spec = {"containers": [{"name": "main", "image": "openb", "resources": {"requests": requests}}]}
    annotations = {GPU_COUNT: str(gpus), GPU: str(milli)} if gpus else None
    pod = msgspec.convert({"spec": spec}, Pod)
    metadata = ObjectMeta(name="model", namespace="openb", annotations=annotations)
    return PodInfo(defaults.pod(msgspec.structs.replace(pod, metadata=metadata)))


def _rows(path: str, columns: Sequence[str], numbers: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a CSV file, some of whose columns are whole numbers that are not negative."""
    problems: list[Problem] = []
    rows: list[dict[str, Any]] = []
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            missing = [name for name in columns if name not in (reader.fieldnames or ())]
            if missing:
                raise InputError(
                    [Problem(f"no column {', '.join(missing)}", path, 1, hint=f"expected {', '.join(columns)}")]
                )
            lines: dict[str, int] = {}
            for row in reader:
                line = reader.line_num
                first = lines.setdefault(row[columns[0]] or "", line)
                if first != line and row[columns[0]]:
                    problems.append(Problem(f"{columns[0]} {row[columns[0]]} is that of line {first}, too", path, line))
                problems += (Problem(each, path, line) for each in _mistakes(row, columns[0], numbers))
                rows.append(row)
    except (OSError, UnicodeError, csv.Error) as error:
        reason = (error.strerror or str(error)).lower() if isinstance(error, OSError) else str(error)
        raise InputError([Problem(f"cannot be read: {reason}", path)]) from None
    if problems:
        raise InputError(problems)
    if not rows:
        raise InputError([Problem("no rows", path)])
    for row in rows:
        yield row | {name: int(row[name]) for name in numbers}


def _mistakes(row: Mapping[str, Any], name: str, numbers: Sequence[str]) -> Iterator[str]:
    """Yield what is wrong with a row by itself."""
    if not row[name]:
        yield f"{name} is missing"
    for number in numbers:
        if not _NUMBER.fullmatch(row[number] or ""):
            yield f"{number} is {row[number] or 'missing'!r}, expected a whole number"
    if _is_gone_before_it_comes(row):
        yield "deletion_time is before creation_time"


def _is_gone_before_it_comes(row: Mapping[str, Any]) -> bool:
    times = [row.get("creation_time") or "", row.get("deletion_time") or ""]
    return all(map(_NUMBER.fullmatch, times)) and int(times[1]) < int(times[0])
