"""VolumeZone: volumes that exist in one zone only.

`plugin` answers; `events` says what requeues a pod that it refused.
"""
