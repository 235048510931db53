"""Kubernetes' CEL: its dialect, its checks, its errors and its cost, for device selectors and policies alike.

From text to answer: `parsing` makes a tree (`syntax`), `macros` expands shorthand, `checking` types the tree against an
`declarations.Environment`, `validation` looks at literals, `planning` makes closures of it; `programs` is the way
through them, and `library` has the functions. The package knows neither devices nor policies.
"""
