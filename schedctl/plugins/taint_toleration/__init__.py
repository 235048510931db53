"""TaintToleration: taints of nodes that a pod tolerates, or does not.

`plugin` answers. `wording` and `remedies` are what `explain` says and tries about it.
"""
