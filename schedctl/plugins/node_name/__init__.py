"""NodeName: a pod that names its node goes there or nowhere.

`plugin` answers; `wording` is what `explain` says about it.
"""
