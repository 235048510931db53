"""TaintToleration: taints of nodes that a pod tolerates, or does not.

`plugin` answers.
"""
