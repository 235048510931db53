"""Wordings and remedies go by the references of reasons: each must be one that the plugin declares."""

import ast
import importlib
import inspect
import re

import pytest

from schedctl.framework.points import Plugin
from schedctl.framework.reasons import Reason, kebab
from schedctl.plugins.in_tree import IN_TREE
from schedctl.scheduler import Scheduler
from schedctl.testing.builders import cluster

PLUGINS = next(iter(Scheduler(cluster()).profiles.values())).plugins
WITH_REMEDIES = [name for name, plugin in IN_TREE.items() if plugin.remedies is not Plugin.remedies]


def declared(name):
    """Return the references of the reasons that a plugin declares."""
    plugin = IN_TREE[name]
    return {value.reference for each in plugin.__mro__ for value in vars(each).values() if isinstance(value, Reason)}


def mentioned(module):
    """Return the texts in a module that have the form of a reference."""
    constants = (
        node.value for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.Constant)
    )
    return {text for text in constants if isinstance(text, str) and re.fullmatch(r"[a-z-]+/[a-z-]+", text)}


@pytest.mark.parametrize("name", IN_TREE)
def test_every_wording_is_of_a_reason_that_the_plugin_declares(name):
    assert PLUGINS[name].wording().keys() <= {*declared(name), kebab(name)}


@pytest.mark.parametrize("name", WITH_REMEDIES)
def test_every_remedy_is_for_a_reason_that_the_plugin_declares(name):
    module = importlib.import_module(f"{IN_TREE[name].__module__.rpartition('.')[0]}.remedies")
    assert mentioned(module)
    assert mentioned(module) <= declared(name)
