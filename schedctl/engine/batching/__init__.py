"""What makes equal and mixed pods cheap: answers of plugins kept while what they rest on holds.

`reuse` is the way in; `templates` keeps answers, `reading` takes down what they rest on, `ageing` says what changes
spoil, `rankings` keeps a whole cycle true with `feasibility` and `score_columns`, `lookahead` judges a template's next
placements in one column.
"""
