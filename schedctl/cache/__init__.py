"""The cluster in memory, laid out in columns.

`Cluster` (``cluster``) holds every object the scheduler reads, and every change of it can be undone: a what-if in
``with cluster.fork():`` costs what it changed. `Nodes` (``nodes``) is the view over a choice of rows that plugins see,
over the tables of ``node_table`` and ``pod_table``.
"""
