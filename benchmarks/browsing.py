"""How long a page about 5,000 nodes takes until it answers: ``python -m benchmarks.browsing``, which needs Chromium."""

from __future__ import annotations

import argparse
import json
import shutil
import statistics
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.processes import ROOT

sys.path.insert(0, str(ROOT))

from tests.render.html.conftest import ask, large_cluster

NODES, RUNS = 5_000, 5


def measure(file: Path, path: str) -> float:
    """Return the seconds from asking for a page until pointing at a node shows its numbers, in a browser that runs."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path, args=["--no-sandbox"])
        tab = browser.new_page()
        began = time.perf_counter()
        tab.goto(file.as_uri())
        tab.hover(".grid rect >> nth=40")
        tab.wait_for_function("document.querySelector('.probe').innerText.includes('cpu')")
        found = time.perf_counter() - began
        browser.close()
    return found


def main() -> None:
    """Measure and print a line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=NODES)
    arguments = parser.parse_args()
    path = shutil.which("chromium") or shutil.which("chromium-browser")
    if path is None:
        sys.exit("no Chromium here: `apt-get install chromium`")
    with tempfile.TemporaryDirectory() as folder:
        state, page = Path(folder, "cluster.json"), Path(folder, "page.html")
        state.write_text(json.dumps(large_cluster(arguments.nodes)), encoding="utf-8")
        page.write_text(ask("explain", "pod", "shop/large", "-f", str(state), "-o", "html"), encoding="utf-8")
        times = [measure(page, path) for _ in range(RUNS)]
        size = page.stat().st_size
    print(
        f"a page about {arguments.nodes} nodes, {size / 1e6:.2f} MB: a node answers after"
        f" {statistics.median(times):.2f} s (of {RUNS} runs {min(times):.2f} to {max(times):.2f} s)"
    )


if __name__ == "__main__":
    main()
