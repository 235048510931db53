"""`schedctl version` beside a bare interpreter, each a process of its own, in turn."""

import statistics
import subprocess
import sys
import time

RUNS = 15


def seconds(*arguments: str) -> float:
    began = time.perf_counter()
    subprocess.run([sys.executable, *arguments], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - began


def main() -> None:
    pairs = [(seconds("-c", "pass"), seconds("-m", "schedctl", "version")) for _ in range(RUNS + 1)][1:]
    bare, version = map(statistics.median, zip(*pairs, strict=True))
    more = (version - bare) * 1000
    print(f"bare interpreter {bare * 1000:.0f} ms, schedctl version {version * 1000:.0f} ms: {more:.0f} ms more")


if __name__ == "__main__":
    main()
