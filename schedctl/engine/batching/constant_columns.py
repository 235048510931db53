"""`ConstantColumns`: plugins that say the same of all nodes, whatever pods come and go, taken together.

Most plugins have nothing to say about most pods. What those said about one class they say about the next that they read
alike, so that classes share a sum of their scores, and go through the others alone.
"""

from __future__ import annotations

from collections.abc import Mapping

from schedctl.engine.batching.answer_columns import AnswerColumn
from schedctl.engine.batching.plugin_orders import PluginOrder
from schedctl.engine.batching.surroundings import Surroundings
from schedctl.framework.cycles import CycleState


class ConstantColumns:
    """Columns that pass all nodes and give all of them the same score.

    Attributes:
        names: of their plugins.
        others: the order of the other plugins.
        state: what these plugins have left in a cycle.
        skip_filter, skip_score: the names of those of which Filter or Score is left out.
        total: what their scores add up to, by weight.
        is_void: whether one of them has come to say something else.
    """

    def __init__(self, around: Surroundings, others: PluginOrder, columns: Mapping[str, AnswerColumn]) -> None:
        self._around = around
        self._known = [(column, column.forgotten, column.constant) for column in columns.values()]
        self._kinds = frozenset[type]().union(*[column.kinds for column in columns.values()])
        self._epoch = around.epoch
        self._generation = min([column.generation for column in columns.values()])  # nobody may have looked since
        self.names = frozenset(columns)
        self.others = others
        self.state = CycleState.union([column.cycle.state for column in columns.values()])
        self.skip_filter = frozenset([name for name, column in columns.items() if column.skips_filter])
        self.skip_score = frozenset([name for name, column in columns.items() if column.skips_score])
        weights = others.profile.weights
        self.total = sum(column.constant * weights[name] for name, column in columns.items() if name in weights)
        self.is_void = False

    def update(self) -> bool:
        """Bring the columns up to the cluster, once for all classes; return whether they still say the same.

        Raises:
            CycleError: a plugin fails.
            PluginError: one says that it cannot answer.
            CannotUpdate: its Filter fails on a node.
        """
        cluster, epoch, since = self._around.cluster, self._around.epoch, self._generation
        if self.is_void:
            return False
        if self._epoch == epoch and not cluster.is_any_changed(self._kinds, since):
            return True
        self.is_void = True  # should one of them fail, too
        for column, forgotten, constant in self._known:
            column.update()
            if column.forgotten != forgotten or not column.is_constant or column.constant != constant:
                return False
        self._kinds = self._kinds.union(*[column.kinds for column, _, _ in self._known])
        self._generation, self._epoch, self.is_void = cluster.generation, epoch, False
        return True
