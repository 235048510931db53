"""Manifests to objects: whatever ``-f`` was given becomes typed Kubernetes objects, or a list of everything wrong.

One way in (`load`), through rooms that know little of each other; texts and trees with places are the business of
`schedctl.documents`. Nothing here prints, and nothing but `files` and `kustomize` touches the file system::

    loading      the front door: collects, raises once
    terms        on what terms: a state, or what is about to be created
    files        names to bytes: files, folders, globs, stdin, gzip; bounded
    archives     tar archives to the files in them, in memory
    collected    what tools that collect clusters leave out of objects, or wrap around them
    kustomize    kustomizations to bytes, by the user's own program
    snapshots    what `schedctl snapshot create` wrote, kind by kind
    manifests    documents to objects: lists are flattened, other people's kinds counted
    objects      one object: the short way to its struct, and the long way
    custom_workloads
                 custom resources to the pod templates in them
    shapes       values against struct types: every wrong, missing and misspelt field (`known_fields`)
    validation   what an API server would have refused of an object written by hand (`syntax`, `relations`)
    creation     what else it refuses when the object is about to be created
    checks       what only shows when all is there: duplicates, pods on unknown nodes
"""

from __future__ import annotations

from schedctl.sources.loading import Manifests, Progress, load, load_listed, load_text, overlay
from schedctl.sources.manifests import Sourced
from schedctl.sources.terms import Terms

__all__ = ["Manifests", "Progress", "Sourced", "Terms", "load", "load_listed", "load_text", "overlay"]
