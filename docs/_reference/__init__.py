"""Writes docs/reference out of the code: one module for each page, whose `page` returns it.

tests/docs/test_reference.py holds the pages to it, and SCHEDCTL_UPDATE_GOLDEN=1 writes them.
"""
