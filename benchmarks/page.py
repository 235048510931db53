"""Write the results into the page about performance, between its markers; what stands around them is left alone."""

import argparse
import re
from pathlib import Path

from benchmarks import growth, mix_rates, profile, results, shapes
from benchmarks.processes import ROOT

PAGE = ROOT / "docs/performance.md"
MARKED = re.compile(r"^(<!-- results: (\w+) -->\n).*?^(<!-- end -->\n)", re.MULTILINE | re.DOTALL)
WORDS = {
    "shapes": shapes.as_markdown,
    "mixes": mix_rates.as_markdown,
    "growth": growth.as_markdown,
    "profile": profile.as_markdown,
}
"""What makes Markdown of a result, by its name, which is also that of its marker."""


def fill(page: str) -> str:
    """The page with the results as they are now."""
    return MARKED.sub(lambda found: f"{found[1]}\n{WORDS[found[2]](results.read(found[2]))}\n{found[3]}", page)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--into", type=Path, default=PAGE, help="the page")
    args = parser.parse_args()
    args.into.write_text(fill(args.into.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
