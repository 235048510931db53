"""PowerPrice: a Score that prefers nodes on which a watt costs less.

For clusters over several sites or tariffs. A node says its price by the label ``power.example.com/price`` (any unit,
e.g. ``0.31``).

Extension points: ``preScore``, ``score``::

    schedctl explain pod web-0 -n shop -f cluster.yaml --plugin examples/plugins/power_price.py \
        --scheduler-config examples/profiles/power-price.yaml
"""

from __future__ import annotations

import numpy as np

from schedctl.cache.arrays import IntArray
from schedctl.cache.nodes import NodeInfo, Nodes
from schedctl.cache.pod_info import PodInfo
from schedctl.framework.arithmetic import MAX_NODE_SCORE, truncdiv
from schedctl.framework.cycles import Cycle
from schedctl.framework.lifting import per_node
from schedctl.framework.points import PreScorePlugin, ScorePlugin
from schedctl.framework.statuses import SKIP, Status

PRICE = "power.example.com/price"
UNKNOWN = -1
DEAREST = 10**12
"""In millionths; a dearer label is nonsense."""


class PowerPrice(PreScorePlugin, ScorePlugin):
    """Prefers nodes whose power is cheap.

    The cheapest of the feasible nodes scores 100, the dearest 0, and those between them in proportion. A node that does
    not say its price, or says nonsense, counts as the dearest.
    """

    reads_feasible_set = False

    def signature(self, pod: PodInfo) -> tuple[()]:
        """Reads nothing of the pod."""
        return ()

    def pre_score(self, cycle: Cycle, nodes: Nodes) -> Status | None:
        """Leave scoring out where no node says a price that another does not."""
        return SKIP if len({_price(NodeInfo(nodes, position)) for position in range(len(nodes))}) < 2 else None

    @per_node
    def score(self, cycle: Cycle, node: NodeInfo) -> int:
        """Return the price in millionths, -1 where it is not known."""
        return _price(node)

    def normalize(self, cycle: Cycle, nodes: Nodes, scores: IntArray) -> IntArray:
        """Return 100 for the cheapest and 0 for the dearest."""
        known = scores[scores != UNKNOWN]
        if not len(known):
            return np.zeros_like(scores)
        low, high = int(known.min()), int(known.max())
        # where all that say a price say the same one, those that say none are a millionth dearer
        prices = np.where(scores == UNKNOWN, high if high > low else high + 1, scores)
        return truncdiv((int(prices.max()) - prices) * MAX_NODE_SCORE, max(int(prices.max()) - low, 1))


def _price(node: NodeInfo) -> int:
    try:
        price = round(float(node.labels.get(PRICE, "")) * 1_000_000)
    except (ValueError, OverflowError):
        return UNKNOWN
    return price if 0 <= price <= DEAREST else UNKNOWN
