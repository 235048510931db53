"""``spread``: the pods of each workload spread over domains, such as zones."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from schedctl.api import topology
from schedctl.api.node_selectors import required_node_affinity
from schedctl.api.tolerations import first_untolerated
from schedctl.cache.node_matching import nodes_meeting
from schedctl.policy import fields, findings
from schedctl.policy.documents import Spread
from schedctl.policy.situations import JudgedWorkload, Situation
from schedctl.reports import counts
from schedctl.simulation.node_choices import label_of

_NOUNS = {topology.ZONE: "zone", topology.REGION: "region", topology.HOSTNAME: "node"}
_EXPLAINED = 3
_SHOWN = 12


def judge(view: findings.View, arguments: Spread, about: findings.Judged) -> Iterable[findings.Finding]:
    """Judge a workload: its pods are in so many domains of all there are, and none has many more than another.

    Pods on nodes without the label are in no domain. For the skew they count as a group, which may be the fullest; a
    domain that the pods' own spread constraint leaves out cannot be the emptiest.
    """
    judged = about.workload
    assert judged is not None
    if not judged.pods:
        yield findings.pass_finding(judged.wants_none)
        return
    key = label_of(view.situation.cluster, arguments.topology_key)
    pods_by_domain = _counts(view.situation, judged, key)
    filled = sum(1 for domain, count in pods_by_domain.items() if domain and count)
    unclear, few_domains = len(judged.unclear_pods), arguments.min_domains
    undecided = judged.undecided_pods(arguments.ignore_pending)
    demanded = _eligible_domains(view.situation, judged, key)
    skew = max(pods_by_domain.values(), default=0) - min(
        (pods_by_domain[each] for each in pods_by_domain if each in demanded), default=0
    )
    message = _number(filled, key)
    too_few, too_uneven = filled < few_domains, arguments.max_skew is not None and skew > arguments.max_skew
    if too_few:
        message += f", needs {few_domains}"
    if too_uneven:
        message += f", skew {skew}, at most {arguments.max_skew} allowed"
    message += _show_counts(pods_by_domain)
    violates = ({"domains missing": few_domains - filled} if too_few else {}) | ({"skew": skew} if too_uneven else {})
    if filled + unclear < few_domains or (too_uneven and not unclear):
        yield _explain(
            findings.violation(message, hints=_impossible(pods_by_domain, judged, few_domains, key), violates=violates),
            view,
            judged,
            key,
            pods_by_domain,
        )
    elif undecided and (too_few or too_uneven or _could_be_uneven(skew + len(undecided), arguments)):
        yield findings.undecided_finding(message, undecided, view.causes.explain_pending(undecided))
    else:
        yield findings.pass_finding(message)


def _could_be_uneven(skew: int, arguments: Spread) -> bool:
    return arguments.max_skew is not None and skew > arguments.max_skew


def _counts(situation: Situation, judged: JudgedWorkload, key: str) -> dict[str, int]:
    """Return how many pods are in each domain of the cluster; "" has those on nodes without the label."""
    table = situation.cluster.node_table
    domain_of = {
        name: topology.group_of(table.objects[row].metadata.labels, key) or "" for name, row in table.row_of.items()
    }
    found = Counter(domain_of.get(pod.node, "") for pod in judged.placed_pods)
    return {domain: found[domain] for domain in sorted({*domain_of.values(), *found}) if domain or found[domain]}


def _eligible_domains(situation: Situation, judged: JudgedWorkload, key: str) -> set[str]:
    """Return the domains in which pods are missed: those that the pods' own spread constraint lets in, if any does."""
    table, info = situation.cluster.node_table, judged.pods[0].info
    rows = dict(table.row_of)
    for constraint in info.pod.spec.topology_spread_constraints or ():
        if constraint.topology_key != key:
            continue
        if constraint.node_taints_policy == "Honor":
            tolerations, compares = info.pod.spec.tolerations or (), situation.cluster.compares_taints
            rows = {
                name: row
                for name, row in rows.items()
                if first_untolerated(table.objects[row].spec.taints or (), tolerations, compares) is None
            }
        required = required_node_affinity(info.pod)
        if constraint.node_affinity_policy != "Ignore" and not required.everywhere:
            meets = nodes_meeting(table, required)
            rows = {name: row for name, row in rows.items() if meets[row]}
    return {topology.group_of(table.objects[row].metadata.labels, key) or "" for row in rows.values()} - {""}


def _show_counts(pods_by_domain: Mapping[str, int]) -> str:
    if not pods_by_domain:
        return ""
    ordered = list(pods_by_domain.items())
    if len(ordered) > _SHOWN:
        ordered = sorted(ordered, key=lambda item: (-item[1], item[0]))[:_SHOWN]
    shown = [f"{domain or 'without the label'} {count}" for domain, count in ordered]
    if len(pods_by_domain) > _SHOWN:
        shown.append(f"and {len(pods_by_domain) - _SHOWN} more")
    return f" ({', '.join(shown)})"


def _number(number: int, key: str) -> str:
    """Return how many domains of a label, e.g. ``2 zones``."""
    if key in _NOUNS:
        return counts.of(number, _NOUNS[key])
    return f"{counts.of(number, 'value')} of {key}"


def _impossible(pods_by_domain: Mapping[str, int], judged: JudgedWorkload, min_domains: int, key: str) -> list[str]:
    """Return why no placement could do, a line each."""
    domains = sum(1 for domain in pods_by_domain if domain)
    hints = []
    if domains < min_domains:
        hints.append(f"the cluster has {_number(domains, key)}")
    if len(judged.pods) < min_domains:
        hints.append(f"it has {counts.of(len(judged.pods), 'pod')}, fewer than {_number(min_domains, key)}")
    return hints


def _explain(
    finding: findings.Finding, view: findings.View, judged: JudgedWorkload, key: str, pods_by_domain: Mapping[str, int]
) -> findings.Finding:
    """Return a finding with why the emptiest domains have no more pods, and why pods are pending."""
    spec = judged.pods[0].info.pod.spec
    model = next((pod for pod in judged.placed_pods), None)
    least = min((count for domain, count in pods_by_domain.items() if domain), default=0)
    empty = [domain for domain, count in pods_by_domain.items() if domain and count == least]
    template = judged.workload.template
    tied = template.spec.node_name if template is not None else ""
    causes = (
        [view.causes.explain_absence(model, tied, key, domain) for domain in empty[:_EXPLAINED]]
        if model is not None
        else []
    )
    if judged.pending_pods:
        causes.append(view.causes.explain_pending(judged.pending_pods))
    for cause in causes:
        finding = finding.because(cause)
    spreading = fields.first(spec, fields.SPREADING) if not tied else ()
    # What spreads the pods decides, whatever field kept them out of a domain.
    return replace(finding, path=spreading) if spreading else finding
