"""Kubernetes' CEL: its dialect, its checks, its errors and its cost, for device selectors and policies alike.

Use: describe in an `declarations.Environment` what expressions may speak of (`library.functions` has Kubernetes'
functions, `types` the types); `programs.check_text` types a `syntax.Source`, `programs.Program` evaluates the tree
over `values`; `errors` has what either raises. The package knows neither devices nor policies.

From text to answer: `syntax` parses, `macros` expands shorthand, `checking` types the tree against `declarations`,
`validation` looks at literals, `planning` makes closures of it. `costs` counts what kube-scheduler would have counted.
"""
