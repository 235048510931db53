"""The pictures of a page, as SVG that prints, copies and reads without a script.

Each is drawn from plain numbers and names, the timeline from the steps of a run; colours are classes of the style.
"""
