"""PodTopologySpread: pods kept evenly over the domains of a topology key.

`plugin` answers; `constraints` reads what a pod asks for, `counts` keeps how many matching pods each domain has.
`wording` and `remedies` are what `explain` says and tries about it.
"""
