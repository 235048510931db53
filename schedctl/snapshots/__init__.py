"""Snapshots: what scheduling reads of a cluster in one file, to be kept, compared, and shown to others.

A snapshot holds an allow-list: the fields of the structs in `schedctl.api`, and of those no text that nobody reads, so
that what scheduling has no use for (environment variables, commands, most annotations) cannot slip in. ``-f`` reads it
like any other file; `schedctl.sources.snapshots` finds it there::

    headers        how a snapshot is told from other documents
    documents      to bytes and back
    pods, nodes    the kinds that stand in tables, and `tables`, what the two share
    files          on disk: mode 0600, in one go; keys
    levels         how much of a state goes in
    allow_list     what is kept of an object
    redaction      strictly: tokens for every name, by rules of what may stay
    tokens         the tokens: equal for equal names, in the same order
    rewriters      rules for fields, as a function of objects
    inspection     what one holds
    comparison     what differs between two
"""

from __future__ import annotations
