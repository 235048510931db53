"""DefaultPreemption: which running pods make room for one that fits nowhere (PostFilter).

`plugin` answers; `victims` says whom it may evict, `dry_run` tries that node by node, `extenders` asks those that take
part in preemption, and `candidates` chooses among the nodes that are left. `wording` is what `explain` says about it.
"""
