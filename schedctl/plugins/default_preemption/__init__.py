"""DefaultPreemption: which running pods make room for one that fits nowhere (PostFilter).

`plugin` answers; `candidates` finds the nodes worth trying, `trials` tries them, `victims` chooses who goes, and
`extenders` asks those that take part in preemption. `wording` is what `explain` says about it.
"""
