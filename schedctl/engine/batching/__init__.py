"""What makes equal and mixed pods cheap: answers of plugins kept while what they rest on holds.

`signature_cache` is the way in; `answer_columns` keeps what one plugin says by what it reads of a pod, `reading` takes
down what that rests on, `equivalence_classes` adds what depends on the feasible nodes, with `contributions`;
`lookahead` asks about the next placements of a class in one column, `cached_runner` serves cycles that are run in full.
"""
