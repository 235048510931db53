"""What differs between two configurations in effect, once all defaults are filled in and all plugin sets are merged.

Two files that say the same in different ways differ in nothing. What is compared is the form that leaves nothing to
defaults; a difference is a field of it with the value of either side, None where a side does not have it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec

PLUGINS: Final = "plugins"
PLUGIN_CONFIG: Final = "pluginConfig"
ORDER: Final = "order"
_UNORDERED: Final = ("preScore", "score", "placementScore")
"""Points at which the order of plugins decides nothing."""
_SHARE: Final = "percentageOfNodesToScore"
_NAME: Final = "schedulerName"

Plain = Mapping[str, Any]


class Difference(msgspec.Struct, frozen=True):
    """A field in which two configurations differ.

    Attributes:
        scheduler_name: the profile, by its name on the left where it has another on the right; "" for what is not of
            a profile.
        field: where: ``plugins``, the point and the plugin; ``pluginConfig``, the plugin and its argument; or a field
            of the profile or the configuration. No steps at all stand for the whole profile.
        left: the value there: of a plugin its weight, or True; None where there is none.
        right: the value on the other side.
    """

    scheduler_name: str
    field: tuple[str, ...]
    left: Any
    right: Any


def differences(left: Plain, right: Plain) -> list[Difference]:
    """Return where two configurations differ, profile by profile, then what is beside the profiles.

    Args:
        left: a KubeSchedulerConfiguration that leaves nothing to defaults, as plain values.
        right: another.
    """
    found: list[Difference] = []
    for one, other in _pairs(left["profiles"], right["profiles"]):
        name = (one or other or {})[_NAME]
        if one is None or other is None:
            found.append(Difference(name, (), one and one[_NAME], other and other[_NAME]))
            continue
        if one[_NAME] != other[_NAME]:
            found.append(Difference(name, (_NAME,), one[_NAME], other[_NAME]))
        shares = [profile.get(_SHARE, whole[_SHARE]) for profile, whole in ((one, left), (other, right))]
        if shares[0] != shares[1]:
            found.append(Difference(name, (_SHARE,), *shares))
        found += _plugins(name, one[PLUGINS], other[PLUGINS])
        configs = [{config["name"]: config["args"] for config in profile[PLUGIN_CONFIG]} for profile in (one, other)]
        found += _values(name, (PLUGIN_CONFIG,), *configs)
    beside = [
        {key: value for key, value in whole.items() if key not in ("profiles", _SHARE)} for whole in (left, right)
    ]
    return [*found, *_values("", (), *beside)]


def _pairs(left: Iterable[Plain], right: Iterable[Plain]) -> list[tuple[Plain | None, Plain | None]]:
    """Return the profiles of one name; the only one of each side belong together, whatever their names."""
    ones = {profile[_NAME]: profile for profile in left}
    others = {profile[_NAME]: profile for profile in right}
    if len(ones) == len(others) == 1:
        return list(zip(ones.values(), others.values(), strict=True))
    return [(ones.get(name), others.get(name)) for name in dict.fromkeys((*ones, *others))]


def _plugins(scheduler: str, left: Plain, right: Plain) -> Iterator[Difference]:
    """Yield which plugins run, what their scores count, and where the order of those that both have is another."""
    for point in dict.fromkeys((*left, *right)):
        one, other = (
            {plugin["name"]: plugin.get("weight", True) for plugin in sets.get(point, {}).get("enabled", ())}
            for sets in (left, right)
        )
        for name in dict.fromkeys((*one, *other)):
            if one.get(name) != other.get(name):
                yield Difference(scheduler, (PLUGINS, point, name), one.get(name), other.get(name))
        orders = [[name for name in names if name in one and name in other] for names in (one, other)]
        if point not in _UNORDERED and orders[0] != orders[1]:
            yield Difference(scheduler, (PLUGINS, point, ORDER), *orders)


def _values(scheduler: str, field: tuple[str, ...], left: Any, right: Any) -> Iterator[Difference]:
    """Yield the innermost fields in which two values differ; lists are compared as wholes."""
    if isinstance(left, Mapping) and isinstance(right, Mapping):
        for key in dict.fromkeys((*left, *right)):
            yield from _values(scheduler, (*field, key), left.get(key), right.get(key))
    elif left != right:
        yield Difference(scheduler, field, left, right)
