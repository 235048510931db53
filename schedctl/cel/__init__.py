"""The CEL of device selectors: Kubernetes' dialect, with its checks, its errors and its cost.

The parts, from text to answer: `syntax` has a maintained engine parse the text, `macros` expands what is shorthand,
`checking` types it against `declarations`, `validation` looks at literals, `planning` turns it into closures, and
`values` with the libraries beside it (`strings`, `lists`, `times`, `quantities`, `semvers`, `networks`, `urls`,
`formats`, `patterns`) is what those compute with. `costs` counts what kube-scheduler would have counted.

Why the engine only parses: cel-expr-python 0.1.3 evaluates core CEL well, but has no values of foreign types (what a
quantity, a semantic version or an address is), no two-variable comprehensions, no cost, a limit of 10,000 iterations,
and error texts of its own. A selector's verdict depends on all five, and a failing selector's text reaches the user.
The grammar, on the other hand, with the recovery and the wording of its syntax errors, is one and the same,
up to 32 levels of nesting and 12 errors, where the engine stops and we say so.
`nesting` knows what is too deep for kube-scheduler, too.
"""
