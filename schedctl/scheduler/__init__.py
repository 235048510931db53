"""The library's front door: a configuration, a registry of plugins and a cluster make a `Scheduler`.

Nothing here decides anything about nodes. ``profiles`` turns configured plugin names into plugins in order (what needs
the registry is checked there), ``schedulers`` routes each pod to the profile of its ``schedulerName``.
"""

from schedctl.scheduler.schedulers import Scheduler

__all__ = ["Scheduler"]
