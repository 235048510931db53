"""Pages of the example clusters and of a large one, and a browser to look at them."""

from __future__ import annotations

import contextlib
import io
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from schedctl.cli.running import run

ROOT = Path(__file__).parents[3]
SHOP = ("-f", str(ROOT / "fixtures/clusters/shop"))
SPRING = ROOT / "fixtures/releases/spring"
POLICIES = ROOT / "fixtures/policies"
TYPES = ("--instance-types", str(ROOT / "fixtures/autoscalers/instance-types.csv"))
RESULTS = "(a file for the results)"
QUESTIONS = {
    "explain": ("explain", "shop/web-7d9c6b5f4d-jbljm", *SHOP),
    "explain a pod that fits": ("explain", "pod", "shop/fits", *SHOP, "-f", str(ROOT / "fixtures/pods/fits.yaml")),
    "explain preemption": ("explain", "pod", "shop/preempts", *SHOP, "-f", str(ROOT / "fixtures/pods/preempts.yaml")),
    "explain a bound pod": ("explain", "pods", "-l", "app=cart", "-n", "shop", *SHOP),
    "explain many": ("explain", "--all-pending", *SHOP),
    "explain a group": (
        *("explain", "podgroup", "train", "-n", "ml", "-f", str(ROOT / "fixtures/clusters/gpu")),
        *("--feature-gates", "GenericWorkload=true,TopologyAwareWorkloadScheduling=true"),
    ),
    "explain a node": ("explain", "node", "general-a-2", *SHOP),
    "explain nodes": ("explain", "node", "general-a-2", "spot-a-1", *SHOP),
    "explain --compare": (
        *("explain", "--all-pending", *SHOP, "-f", str(ROOT / "fixtures/pods/fits.yaml")),
        *("--compare", "bin-packing"),
    ),
    "simulate": ("simulate", str(SPRING), *SHOP),
    "simulate --compare": ("simulate", str(SPRING / "payments.yaml"), *SHOP, "--compare", "spreading"),
    "drain": ("drain", "general-a-2", "general-b-2", "--ignore-daemonsets", *SHOP),
    "capacity": ("capacity", "--like", "deploy/cart", "-n", "shop", *SHOP),
    "capacity of several": ("capacity", "--like", "deploy/cart", "--like", "deploy/web", "-n", "shop", *SHOP),
    "nodes": (
        *("nodes", *SHOP, "-f", str(ROOT / "fixtures/autoscalers/karpenter.yaml"), "--for", str(SPRING)),
        *(*TYPES, "--node-groups", str(ROOT / "fixtures/autoscalers/shop-groups.yaml")),
    ),
    "nodes --as-autoscaler": (
        *("nodes", *SHOP, "-f", str(ROOT / "fixtures/autoscalers/karpenter.yaml"), *TYPES),
        *("--as-autoscaler", "karpenter"),
    ),
    "nodes --shrink --as-autoscaler": (
        *("nodes", "--shrink", "-f", str(Path(__file__).parent / "consolidated.yaml"), *TYPES),
        *("--as-autoscaler", "karpenter"),
    ),
    "nodes --shrink": ("nodes", "--shrink", "--delete-emptydir-data", *SHOP),
    "n-1": ("n-1", "--jobs", "1", *SHOP),
    "sweep": ("sweep", str(Path(__file__).parent / "study.yaml"), "--jobs", "1", "--results", RESULTS),
    "sweep of arrivals": (
        *("sweep", str(ROOT / "examples/studies/packing/study.yaml"), "--jobs", "1", "--restart"),
        *("--results", str(Path(tempfile.gettempdir()) / f"schedctl-packing-{os.getpid()}.jsonl")),
    ),
    "check": (
        *("check", str(POLICIES / "zone-loss/fails.yaml"), "-f", str(POLICIES / "cluster.yaml")),
        *("-p", str(POLICIES / "zone-loss")),
    ),
}
"""A question of each kind."""


def ask(*arguments: str) -> str:
    """Return what a command writes to standard output; what it complains of is shown where a test fails."""
    out = io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="")
    with contextlib.redirect_stdout(out):
        run(arguments)
    out.flush()
    written: bytes = out.buffer.getvalue()  # type: ignore[attr-defined]
    return written.decode()


@pytest.fixture(scope="session")
def pages(tmp_path_factory) -> Callable[[str], str]:
    """Return the page of a question by its name, made once."""
    made: dict[str, str] = {}
    results = tmp_path_factory.mktemp("sweep") / "results.jsonl"

    def page(name: str) -> str:
        if name not in made:
            arguments = [str(results) if each == RESULTS else each for each in QUESTIONS[name]]
            made[name] = ask(*arguments, "-o", "html")
        return made[name]

    return page


def large_cluster(nodes: int) -> dict[str, Any]:
    """Return a List of nodes in three zones and four pools, a pod on each, and two pending pods."""
    items: list[dict[str, Any]] = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "shop"}}]
    pools = (("general", 16, 64), ("memory", 16, 256), ("gpu", 32, 128), ("spot", 8, 32))
    for number in range(nodes):
        (pool, cpu, memory), zone = pools[number % 7 % 4], f"eu-west-1{'abc'[number % 3]}"
        name = f"ip-10-{number // 250}-{number % 250}-{number * 37 % 200}.eu-west-1.compute.internal"
        labels = {"kubernetes.io/hostname": name, "topology.kubernetes.io/zone": zone, "node-pool": pool}
        taints = [{"key": pool, "value": "true", "effect": "NoSchedule"}] if pool in ("gpu", "spot") else []
        amounts = {"cpu": str(cpu), "memory": f"{memory}Gi", "pods": "110"}
        items.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": labels},
                "spec": {"taints": taints, "unschedulable": number % 97 == 0},
                "status": {"allocatable": amounts, "conditions": [{"type": "Ready", "status": "True"}]},
            }
        )
        items.append(_pod(f"web-{number}", f"{1 + number % cpu}", "4Gi", node=name))
    items += [_pod("large", "40", "8Gi"), _pod("small", "500m", "1Gi")]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _pod(name: str, cpu: str, memory: str, node: str = "") -> dict[str, Any]:
    requests = {"requests": {"cpu": cpu, "memory": memory}}
    containers = [{"name": "main", "image": "registry.example/web:1", "resources": requests}]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "namespace": "shop", "labels": {"app": "web"}},
        "spec": {"containers": containers, **({"nodeName": node} if node else {})},
        "status": {"phase": "Running" if node else "Pending"},
    }


@pytest.fixture(scope="session")
def large(tmp_path_factory) -> Path:
    """Return a file with a cluster of 5,000 nodes."""
    file: Path = tmp_path_factory.mktemp("large") / "cluster.json"
    file.write_text(json.dumps(large_cluster(5_000)))
    return file


@pytest.fixture(scope="session")
def large_page(large) -> str:
    """Return the page about a pod that no node of the large cluster takes."""
    return ask("explain", "pod", "shop/large", "-f", str(large), "-o", "html")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Any]:
    """Return a browser; where there is none, the tests say so and are skipped."""
    playwright = pytest.importorskip("playwright.sync_api", reason="the package playwright is not installed")
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        pytest.skip("no Chromium here: `apt-get install chromium`")
    if "pytest_asyncio" in sys.modules:
        pytest.skip("Playwright's synchronous interface does not run within an event loop")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def tab_of(chromium) -> Callable[[bool], Any]:
    """Return a function that gives a tab, inspected or not, the same for all tests: a new one costs ten pages."""

    @cache
    def tab_of(inspected: bool) -> Any:
        # an inspector's own script is no part of the page, and its policy lets none in
        tab = chromium.new_context(bypass_csp=inspected).new_page()
        tab.on("console", lambda message: tab.complaints.append(message.text))
        tab.on("pageerror", lambda error: tab.complaints.append(str(error)))
        tab.on("dialog", lambda dialog: (tab.complaints.append(dialog.message), dialog.dismiss()))
        tab.on("request", lambda request: tab.requests.append(request.url))
        tab.complaints, tab.requests = [], []
        return tab

    return tab_of


@pytest.fixture
def visit(tab_of, tmp_path) -> Callable[..., Any]:
    """Return a function that opens a page from a file; what it complains of, and asks for, is kept on it.

    The page that was open before is gone: it and the new one have a tab in common, and nothing else.
    """

    def visit(page: str, *, width: int = 1280, scheme: str = "light", inspected: bool = False) -> Any:
        file = tmp_path / "page.html"
        file.write_text(page, encoding="utf-8")
        tab = tab_of(inspected)
        tab.goto("about:blank")  # once this is there, the page before has complained for the last time
        tab.mouse.move(0, 0)
        tab.set_viewport_size({"width": width, "height": 900})
        tab.emulate_media(color_scheme=scheme)
        tab.complaints, tab.requests = [], []
        tab.goto(file.as_uri())
        return tab

    return visit
