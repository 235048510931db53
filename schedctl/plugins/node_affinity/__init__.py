"""NodeAffinity: nodeSelector and nodeAffinity of a pod, against the labels of nodes.

`plugin` answers. `wording` and `remedies` are what `explain` says and tries about it.
"""
