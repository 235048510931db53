"""The cluster in memory, laid out in columns.

`Cluster` holds every object the scheduler reads and changes only through its methods, each of which can be undone:
``with cluster.fork():`` is how a what-if costs what it changed and no more. Nodes and running pods are tables whose
columns are NumPy arrays (``node_table``, ``pod_table``); labels are interned and become an int32 column per key when
first asked for (``labels``). `Nodes` (``nodes``) is the read-only view over a choice of rows that plugins see; a row is
a node *in a given occupancy*, so one column may hold a node several times, each time with other pods supposed on it.
"""
