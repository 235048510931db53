"""The expressions of a policy as texts: which variables they read, and which of their answers depend on where pods go.

`compilation` compiles them and `judgements` evaluates them; both need the CEL engine, which this module does not, so
that policies without expressions never load it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from schedctl.policy.documents import CheckPolicy, Scope, Variable
from schedctl.policy.variables import IN_SCOPE, PARAMS, VARIABLES

_REFERENCE: Final = re.compile(r"\bvariables\s*\.\s*\??\s*([A-Za-z_]\w*)")
_WHOLE: Final = re.compile(r"\bvariables\b(?!\s*\.\s*\??\s*[A-Za-z_])")
_PLACEMENT_FIELDS: Final[Mapping[str, re.Pattern[str]]] = {
    "pod": re.compile(r"\b(scheduled|node|reasons|preempts)\b"),
    "workload": re.compile(r"\b(ready|pending|zones|nodes|scheduled|node|reasons|preempts)\b"),
    "node": re.compile(r"\b(requested|free|pods)\b"),
    "nodes": re.compile(r"\b(requested|free|pods)\b"),
    "result": re.compile(r"\b(pods|pendingByReason|preemptions|headroom)\b"),
    "namespaceObject": re.compile(r"\b(scheduled|pending)\b"),
    "namespaces": re.compile(r"\b(scheduled|pending)\b"),
}
"""The fields of each variable that depend on where pods go."""
_COUNTED_FIELDS: Final = re.compile(r"\b(pods|requested|headroom|used|quotas)\b")
"""The fields of namespaces and quotas that depend on which pods are created."""
_NAMESPACED: Final = ("namespaceObject", "namespaces", "quota", "quotas")
_INCONCLUSIVE: Final = re.compile(r"\binconclusive\b")
_REJECTED: Final = re.compile(r"\brejected\b")
_WORD: Final = re.compile(r"[A-Za-z_]\w*")


class PolicyExpressions:
    """The texts of a policy's expressions.

    Attributes:
        policy: whose they are.
        variables: the policy's own, by name.
    """

    def __init__(self, policy: CheckPolicy) -> None:
        self.policy = policy
        self.variables: Mapping[str, Variable] = {each.name: each for each in policy.variables}
        self._roots: dict[Scope, frozenset[str]] = {}
        self._words: dict[Scope, frozenset[str]] = {}
        self._recurring: dict[Scope, frozenset[str]] = {}
        self._placement: dict[str, frozenset[str]] = {}
        self._counting: dict[str, frozenset[str]] = {}

    def roots(self, scope: Scope) -> frozenset[str]:
        """Return which variables (``pod``, ``result``, ...) are read in a scope."""
        if scope not in self._roots:
            words = self.words(scope)
            self._roots[scope] = frozenset(root for root in IN_SCOPE[scope] if root in words)
        return self._roots[scope]

    def words(self, scope: Scope) -> frozenset[str]:
        """Return every word of the expressions of a scope: a field that is not among them is not read."""
        if scope not in self._words:
            texts = [each.text for check in self.policy.checks if check.scope is scope for each in check.expressions]
            self._words[scope] = frozenset(_WORD.findall(self._with_variables(texts)))
        return self._words[scope]

    def recurring(self, scope: Scope) -> frozenset[str]:
        """Return the variables that many objects of a scope share, as the pods of a workload share the workload.

        They are those of the scope but the object itself, and each of the policy's own that does not read the object.
        """
        if scope not in self._recurring:
            itself = scope.value
            shared = {PARAMS, *IN_SCOPE[scope]} - {itself}
            # By words alone: a name of that kind elsewhere makes an evaluation more expensive, but none wrong.
            for name, variable in self.variables.items():
                text = variable.expression.text
                reads = {f"{VARIABLES}.{each}" for each in variable_names(text, self.variables)}
                # A variable reads only those above it, of which it is known by now.
                if itself not in _WORD.findall(text) and reads <= shared:
                    shared.add(f"{VARIABLES}.{name}")
            self._recurring[scope] = frozenset(shared)
        return self._recurring[scope]

    def placement_roots(self, text: str) -> frozenset[str]:
        """Return the variables of which an expression asks where pods go.

        Empty where it speaks of ``inconclusive``, and so knows that nobody may be able to tell.
        """
        if text not in self._placement:
            whole = self._with_variables([text])
            # By words alone: a field of that name elsewhere makes one answer more inconclusive, but none wrong.
            words = set(_WORD.findall(whole))
            roots = (root for root, fields in _PLACEMENT_FIELDS.items() if root in words and fields.search(whole))
            self._placement[text] = frozenset() if _INCONCLUSIVE.search(whole) else frozenset(roots)
        return self._placement[text]

    def counting_roots(self, text: str) -> frozenset[str]:
        """Return the variables of which an expression asks what is created in a namespace.

        Empty where it speaks of ``rejected``, and so knows that some pods may not be.
        """
        if text not in self._counting:
            whole = self._with_variables([text])
            words = set(_WORD.findall(whole))
            is_asked = _COUNTED_FIELDS.search(whole) and not _REJECTED.search(whole)
            self._counting[text] = frozenset(words.intersection(_NAMESPACED)) if is_asked else frozenset()
        return self._counting[text]

    def _with_variables(self, texts: Sequence[str]) -> str:
        """Return the texts of expressions and of the variables that they name, directly or not."""
        reached: dict[str, str] = {}
        waiting = [name for text in texts for name in variable_names(text, self.variables)]
        while waiting:
            name = waiting.pop()
            if name in self.variables and name not in reached:
                reached[name] = self.variables[name].expression.text
                waiting += variable_names(reached[name], self.variables)
        return "\n".join([*texts, *reached.values()])


def variable_names(text: str, known: Iterable[str]) -> list[str]:
    """Return the variables that an expression names: all there are where it takes ``variables`` as a whole."""
    return [*_REFERENCE.findall(text), *(known if _WHOLE.search(text) else ())]
