"""``-o html``: a report as one page that stands alone, to be opened from a disk, printed, or sent to somebody.

A page asks nothing of anybody: styles, script and data are in it, and its policy lets a browser load nothing else.
"""
