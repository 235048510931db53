"""NodeVolumeLimits: how many volumes of a CSI driver a node takes.

`plugin` answers; `volumes` says which volumes a pod uses, `usage` which a node has, `events` what requeues. `wording`
and `remedies` are what `explain` says and tries about it.
"""
