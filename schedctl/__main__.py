"""``python -m schedctl``: the same as ``schedctl``."""

from schedctl.cli import main

main()
