"""DeferredPodScheduling: a running pod that waits for more of its node gets it there or nowhere.

`plugin` answers; `wording` is what `explain` says about it.
"""
