"""VolumeRestrictions: disks that only one pod, or one node, can use at a time.

`plugin` answers; `sources` reads the disks and claims off pods, `events` says what requeues a pod that it refused.
`wording` and `remedies` are what `explain` says and tries about it.
"""
