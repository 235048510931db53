"""``python -m schedctl``: the same as ``schedctl``.

For ``-m`` Python puts the current folder before all that is installed. Where somebody looks at a clone, a file there
must not come in place of a library, so the folder is taken out again.
"""

import sys
from pathlib import Path

if not sys.flags.safe_path and sys.path and Path(sys.path[0]).exists() and Path(sys.path[0]).samefile(Path()):
    del sys.path[0]

from schedctl.cli import main

main()
