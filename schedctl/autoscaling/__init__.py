"""Groups of nodes that could grow: who manages them, how far they may grow, and what a new node of each is like.

``detection`` finds them in a cluster, ``files`` reads them from a file, ``joining`` makes a new node take part. What
comes of more nodes, or of fewer, is the business of `simulation` and `explain`.
"""
