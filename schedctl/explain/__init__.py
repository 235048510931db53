"""From the facts of an attempt to an explanation: why not, why here, and what would help.

`explanations` answers about one pod: `evidence`, `facts`, `groups` and `scores` read the attempt, `wordings` and
`allocations` ask its plugins for words, `hints` has `trials` try what `remedies` and `typos` offer, and
`requeue_events` lists what brings the pod back. No plugin is imported: what is said about one comes from its package.
"""
