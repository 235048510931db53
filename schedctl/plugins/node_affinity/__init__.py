"""NodeAffinity: nodeSelector and nodeAffinity of a pod, against the labels of nodes.

`plugin` answers.
"""
