"""NodeResourcesFit: whether a node has room for what a pod requests, and how much is left.

`plugin` answers; the arithmetic it shares with NodeResourcesBalancedAllocation is
`schedctl.framework.resource_scoring`. `wording` and `remedies` are what `explain` says and tries about it.
"""
