"""DynamicResources: devices that pods claim (KEP-4381).

`plugin` answers; `claims` reads what a pod claims, `extended` claims what is written as an extended resource, `search`
asks the allocator of `schedctl.devices` node by node, `writing` records what was allocated, `events` says what
requeues. `wording` and `remedies` are what `explain` says and tries about it.
"""
