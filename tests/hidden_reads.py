"""A fault to be found: a plugin reads the cluster, and nobody hears of it."""

from schedctl.plugins.in_tree import IN_TREE


def hide_reads(plugin, monkeypatch):
    """Nobody hears what an in-tree plugin reads of the cluster."""

    def hidden(original):
        def answer(plugin, cycle, nodes):
            with nodes.cluster.rest_on():
                return original(plugin, cycle, nodes)

        return answer

    for method in ("pre_filter", "filter", "pre_score", "score"):
        if hasattr(IN_TREE[plugin], method):
            monkeypatch.setattr(IN_TREE[plugin], method, hidden(getattr(IN_TREE[plugin], method)))
