"""News about what is watched, for people: when, what the answer is now, and kube-scheduler's line."""

from __future__ import annotations

from collections.abc import Iterator

from schedctl.render import notices, pod_groups
from schedctl.render.explanations import answer
from schedctl.render.layout import Block, Line, Span
from schedctl.reports.watches import WatchEvent, WatchLine


def lines(news: WatchLine) -> Iterator[Block]:
    """Yield one piece of news."""
    time = Span(f"{news.time} ", "faint")
    if news.group_result is not None:
        yield Line((time, *pod_groups.headline(news.group_result).spans))
        yield from notices.kubernetes_line(news.group_result.message, 2)
        return
    if news.result is None:
        yield Line((time, Span(news.text, "good" if news.event is WatchEvent.BOUND else "strong")))
        return
    first, *rest = answer(news.result)
    yield Line((time, *first.spans))
    yield from rest
    yield from notices.kubernetes_line(news.result.message, 2)
