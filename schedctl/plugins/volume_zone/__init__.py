"""VolumeZone: volumes that exist in one zone only.

`plugin` answers; `events` says what requeues a pod that it refused. `wording` and `remedies` are what `explain` says
and tries about it.
"""
