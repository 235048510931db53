"""Every document that schedctl prints, as data: the machine contract, and all that `schedctl.render` reads.

A module for each kind of document; `schemas` makes their JSON Schemas. Reports know nothing of those who fill them or
print them.
"""
