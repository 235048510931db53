"""Load, choose, change, ask: one use case per file, without a word of the command line.

The commands of `cli` parse, call a module of this package and render the report it returns; `library` offers the same
to programs. What there is to say on the way goes to a `Notifier`, and `schedulers` builds every `Scheduler`.
"""
