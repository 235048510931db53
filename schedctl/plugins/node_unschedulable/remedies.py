"""What would undo a rejection of NodeUnschedulable."""

from __future__ import annotations

from schedctl.framework.remedies import Rejection, Remedies, uncordon


def remedies(rejection: Rejection) -> Remedies:
    """Return that the node is uncordoned."""
    return [uncordon(rejection.node)] if rejection.reference == "node-unschedulable/cordoned" else []
