"""Make schedctl a single file that needs Python 3.11 or newer and nothing else, out of the locked dependencies.

    python ci/single_file.py dist/schedctl

`make pex` runs it. The file has compiled packages in it, so it is for the system and the Python that made it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main(target: str) -> None:
    """Write the file."""
    lock = str(ROOT / "ci/requirements.txt")
    Path(target).parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        _python("build", "--wheel", "--no-isolation", "--outdir", scratch, str(ROOT))
        (wheel,) = Path(scratch).glob("*.whl")
        # pip holds a file of requirements with hashes to them, and so cannot take the wheel, which has none, beside it.
        _python("pip", "download", "--quiet", "--require-hashes", "--only-binary=:all:", "-d", scratch, "-r", lock)
        options = ["--no-pypi", "-f", scratch, "--venv", "--script", "schedctl"]
        _python("pex", str(wheel), *options, "--python-shebang", "/usr/bin/env python3", "--output-file", target)


def _python(module: str, *arguments: str) -> None:
    subprocess.run([sys.executable, "-m", module, *arguments], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
