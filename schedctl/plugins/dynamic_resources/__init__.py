"""DynamicResources: devices that pods claim (KEP-4381).

`plugin` answers; `claims` reads what a pod claims, `extended_resources` makes up the claim for extended resources,
`search` asks the allocator of `schedctl.devices` node by node, `claim_updates` changes claims, `events` says what
requeues. `wording` and `remedies` are what `explain` says and tries about it.
"""
