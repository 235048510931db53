"""InterPodAffinity: pods that want, or refuse, the company of others in a topology domain.

`plugin` answers from the counts that `state` keeps; `evidence` finds the pods behind a refusal.
`wording` and `remedies` are what `explain` says and tries about it.
"""
