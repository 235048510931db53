"""Helm charts and kustomizations in folders of manifests: what they would render is not there to be read.

Their files are no manifests, so they are left out, and each chart and kustomization is named as something of which pods
may be made, as a resource of an operator is.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import PurePath
from typing import Final

from schedctl.errors import Problem
from schedctl.sources.files import Source
from schedctl.sources.unmodelled import KUSTOMIZE, Unmodelled

CHART: Final = "a Helm chart that is not rendered"
_CHART_FILES: Final = ("chart.yaml", "chart.yml")
_KUSTOMIZATION_FILES: Final = ("kustomization.yaml", "kustomization.yml")
_FOLDERS_OF_CHARTS: Final = ("templates", "charts", "crds")


def leave_out(found: Sequence[Source], built: Collection[str]) -> tuple[list[Source], list[Unmodelled]]:
    """Return the files that are manifests, and the charts and kustomizations that the others belong to.

    Args:
        found: the files, of which those in folders are looked at.
        built: the folders of kustomizations that are built in this run.
    """
    charts = {_folder(each) for each in found if _is_named(each, _CHART_FILES)}
    done = {os.path.realpath(folder) for folder in built}
    left: list[Source] = []
    missing: list[Unmodelled] = []
    for each in found:
        folder = _folder(each)
        if _is_named(each, _KUSTOMIZATION_FILES):
            if os.path.realpath(folder) not in done:
                missing.append(_unmodelled_problem(each, "Kustomization", KUSTOMIZE, f"`-k {folder}` builds it"))
        elif not (each.in_folder and _belongs_to_chart(each, charts)):
            left.append(each)
        elif _is_named(each, _CHART_FILES) and not _is_inside(folder, charts - {folder}):
            hint = f"`helm template {folder}` renders it; `-` reads what comes from a pipe"
            missing.append(_unmodelled_problem(each, "Chart", CHART, hint))
    return left, missing


def _unmodelled_problem(source: Source, kind: str, message: str, hint: str) -> Unmodelled:
    group = "helm.sh" if kind == "Chart" else "kustomize.config.k8s.io"
    problem = Problem(message, source.name, 1, 1, subject=f"{kind} {_folder(source)}", hint=hint)
    return Unmodelled(f"{kind}.{group}", problem)


def _is_named(source: Source, names: Collection[str]) -> bool:
    return source.in_folder and PurePath(source.name).name.lower() in names


def _folder(source: Source) -> str:
    return str(PurePath(source.name).parent)


def _is_inside(folder: str, charts: Iterable[str]) -> bool:
    return any(PurePath(folder).is_relative_to(chart) for chart in charts)


def _belongs_to_chart(source: Source, charts: Iterable[str]) -> bool:
    """Return whether a file is one of those from which Helm renders manifests; others may stand beside them."""
    path = PurePath(source.name)
    for chart in charts:
        if path.is_relative_to(chart):
            first, *below = path.relative_to(chart).parts
            is_of_folder = bool(below) and first in _FOLDERS_OF_CHARTS
            if is_of_folder or (not below and first.lower().startswith(("chart.", "values"))):
                return True
    return False
