"""VolumeBinding: claims that are bound, can be bound, or can be provisioned where a node is.

`plugin` answers; `claims` sorts what a pod claims, `search` finds volumes for it among `volumes`, `provisioning` and
`node_terms` say where a new one could be. `assume_cache` keeps what Reserve decided, `binding` carries it out;
`wording` and `remedies` are what `explain` says and tries.
"""
