"""Whole runs: many pods through the real queue and the whole cycle, on a clock that only a run moves.

``runs`` is the loop, ``simulator`` its parts, and ``simulations`` the way from manifests to a run; ``events`` are what
happens besides, ``outcomes`` and ``timeline`` what came of it. ``what_ifs`` change the cluster before, ``drains`` empty
its nodes, ``capacities`` count how many more pods fit; the modules named ``…_builder`` make the reports of them all.

::

    simulations         rollout_controller > replacement: the controllers while a run goes on
    runs > simulator    dispatch: cluster events to queue and plugins; tie_breaking: which of equally good nodes
    report_builder      utilisation: how full and even the nodes are; comparisons: several reports side by side
    what_ifs            what_if_syntax: how they are written; node_choices: the nodes they name
    drains              budgets: how many evictions disruption budgets allow
"""
