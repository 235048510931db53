"""VolumeRestrictions: disks that only one pod, or one node, can use at a time.

`plugin` answers; `events` says what requeues a pod that it refused.
"""
