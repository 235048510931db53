"""Devices: which of those on offer satisfy a claim, and which are taken (dynamic resource allocation, KEP-4381).

`selectors` judges one device by a CEL expression, `slices` and `pools` say what is on offer where, `allocated` what
is taken, and `allocator` searches for an assignment. Nothing here knows of pods, plugins or verdicts.
"""
