"""NodeDeclaredFeatures: pods that need a feature go to nodes that declare it.

`plugin` answers; `wording` and `remedies` are what `explain` says and tries about it.
"""
