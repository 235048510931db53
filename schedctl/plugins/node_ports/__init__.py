"""NodePorts: host ports that a pod wants and another may have taken.

`plugin` answers. `wording` and `remedies` are what `explain` says and tries about it.
"""
