"""NodeUnschedulable: cordoned nodes take no new pods, but those that tolerate the taint that comes with a cordon.

`plugin` answers; `wording` and `remedies` are what `explain` says and tries about it.
"""
