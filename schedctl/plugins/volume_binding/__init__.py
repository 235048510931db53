"""VolumeBinding: claims that are bound, can be bound, or can be provisioned where a node is.

`plugin` answers; `claims` sorts what a pod claims, `search` finds volumes for it among `volumes`, `provisioning` and
`reach` say where a new one could be, `assumed` and `binding` keep and carry out what was promised. `wording` and
`remedies` are what `explain` says and tries about it.
"""
