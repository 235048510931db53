"""The contracts between the engine and the plugins: the scheduling framework itself (KEP-624).

``points`` has one base class per extension point; its docstrings say who calls a method, how often, and what each
answer causes. ``statuses`` and ``reasons`` are what plugins answer with, ``cycles`` what they share during one pod's
cycle, ``handles`` what they may ask of the scheduler around them, ``profiles`` the ordered plugins of one
``schedulerName``, ``registries`` where plugins are found by name. ``lifting`` turns a method written for one node into
the column form that everything else sees, and ``arithmetic`` has Go's integer arithmetic for columns.
"""
