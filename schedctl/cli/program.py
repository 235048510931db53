"""What there is to know of the program before any command is: its versions, and how a shell asks it to complete."""

from __future__ import annotations

from schedctl.versions import KUBERNETES_VERSION, __version__

VERSIONS = f"schedctl {__version__}\nkube-scheduler {KUBERNETES_VERSION}\n"
"""What ``schedctl version`` prints."""
COMPLETION_VARIABLE = "_SCHEDCTL_COMPLETE"
"""Set by a shell that asks what could come next."""
