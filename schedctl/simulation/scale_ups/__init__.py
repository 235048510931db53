"""How many nodes of which groups would have to be added so that pods are placed, by kube-scheduler's own cycle.

``trials`` places the pods on forks with so many new nodes, ``expanders`` adds nodes as Cluster Autoscaler does,
``bounds`` says how few could be enough at best, and ``planning`` searches between the two.
"""
