"""Pages in a real browser: accessible, silent, inert to hostile names, and of use with 5,000 nodes."""

from __future__ import annotations

import base64
import itertools
import re
from importlib import resources

import pytest

from tests.render.html.conftest import QUESTIONS
from tests.render.html.hostile import MARKUP, hostile_page

pytestmark = pytest.mark.slow
WIDTHS = (360, 820, 1440)
SCHEMES = ("light", "dark")
OF_COLOURS = ("color-contrast", "link-in-text-block")
"""The rules of axe that look at colours, which are all that the dark page has otherwise."""


@pytest.fixture(scope="session")
def axe() -> str:
    """Return axe-core, which the package axe-playwright-python brings."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-playwright-python is not installed")
    return (resources.files(package) / "axe.min.js").read_text(encoding="utf-8")


def violations(tab, axe, *rules):
    """Return what axe finds by these rules, or by all: the rule, and where first."""
    tab.evaluate(axe)
    # of all that passes axe would describe every element, which takes the most time
    options = {"resultTypes": ["violations"]} | ({"runOnly": rules} if rules else {})
    found = tab.evaluate("(options) => axe.run(options).then((result) => result.violations)", options)
    return [(each["id"], each["nodes"][0]["html"]) for each in found]


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_page_has_no_violation_of_accessibility_with_everything_unfolded(visit, pages, axe, name):
    for scheme, rules in (("light", ()), ("dark", OF_COLOURS)):
        tab = visit(pages(name), scheme=scheme, inspected=True)
        tab.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
        assert violations(tab, axe, *rules) == []


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_a_page_is_no_wider_than_the_screen_and_complains_of_nothing(visit, pages, name, width):
    tab = visit(pages(name), width=width)
    assert tab.evaluate("document.documentElement.scrollWidth") <= width
    assert tab.complaints == []


@pytest.mark.parametrize("name", QUESTIONS)
def test_a_page_asks_for_nothing(visit, pages, name):
    tab = visit(pages(name))
    assert [url for url in tab.requests if not url.endswith("/page.html")] == []


def test_the_policy_lets_nothing_in_that_somebody_smuggles_into_a_page(visit, pages):
    smuggled = '<img src="https://example.invalid/x"><script>document.title = "taken"</script>'
    tab = visit(pages("explain").replace("<main>", f"<main>{smuggled}", 1))
    assert "taken" not in tab.title()
    assert any("Content Security Policy" in each for each in tab.complaints)


def test_hostile_names_run_nothing_and_show_as_they_are(visit):
    tab = visit(hostile_page(), width=820)
    tab.hover(".grid rect >> nth=0")
    tab.click("text=All 5 nodes")
    tab.wait_for_selector(".node-list tbody tr")
    assert tab.complaints == []
    assert tab.evaluate("document.images.length") == 0
    assert MARKUP in tab.inner_text("body")
    assert "\u202e" not in tab.inner_text("body")
    assert tab.evaluate("document.documentElement.scrollWidth") <= 820


def test_hostile_names_break_no_rule_of_accessibility(visit, axe):
    assert violations(visit(hostile_page(), inspected=True), axe) == []


def test_pointing_at_a_node_tells_its_numbers(visit, pages):
    tab = visit(pages("explain"))
    tab.hover(".block >> nth=0 >> rect >> nth=1")
    assert tab.inner_text(".probe") == (
        "general-a-2 (eu-west-1a, general): refused by PodTopologySpread: node(s) didn't match pod topology spread "
        "constraints: eu-west-1a: 2 matching pods, 3 with this one; skew 2, at most 1 allowed. cpu 2880m of 3920m "
        "requested, memory 4.9Gi of 14.6Gi, 7 of 58 pods."
    )


def test_the_map_is_coloured_by_how_full_without_a_script(chromium, pages, tmp_path):
    file = tmp_path / "page.html"
    file.write_text(pages("explain"))
    context = chromium.new_context(java_script_enabled=False)
    tab = context.new_page()
    tab.goto(file.as_uri())
    square = tab.locator(".grid rect").first
    before = square.screenshot()
    tab.check(".by-full")
    assert square.screenshot() != before
    context.close()


def test_a_heading_sorts_its_table_one_way_and_the_other(visit, pages):
    tab = visit(pages("explain a pod that fits"))
    table = tab.locator("table", has_text="Behind").first
    column = "[...document.querySelectorAll('table')].find((t) => t.textContent.includes('Behind'))"
    totals = f"[...{column}.tBodies[0].rows].map((row) => Number(row.cells[2].textContent))"
    table.get_by_role("button", name="Total").click()
    table.get_by_role("button", name="Total").click()
    assert tab.evaluate(totals) == [407, 420, 439, 617, 639]
    assert table.locator("th", has_text="Total").get_attribute("aria-sort") == "ascending"
    table.get_by_role("button", name="Total").click()
    assert tab.evaluate(totals) == [639, 617, 439, 420, 407]


def test_a_field_filters_the_rows_of_a_long_table(visit, pages):
    tab = visit(pages("simulate"))
    tab.get_by_label("Filter rows").first.fill("gpu")
    shown = "[...document.querySelectorAll('table[data-filter] tbody tr')].filter((row) => !row.hidden)"
    assert 0 < tab.evaluate(f"{shown}.length") < 10
    assert tab.evaluate(f"{shown}.every((row) => row.textContent.includes('gpu'))")


def test_a_page_can_be_worked_with_the_keyboard_alone(visit, pages):
    tab = visit(pages("explain"))
    reached = set()
    for _ in range(60):
        tab.keyboard.press("Tab")
        reached.add(tab.evaluate("document.activeElement.tagName"))
    assert {"BUTTON", "SUMMARY", "INPUT", "DIV"} <= reached


def test_what_is_folded_is_printed(visit, pages):
    tab = visit(pages("explain"))
    tab.evaluate("dispatchEvent(new Event('beforeprint'))")
    assert tab.evaluate("[...document.querySelectorAll('details')].every((each) => each.open)")


def test_5000_nodes_can_be_hovered_listed_and_filtered(visit, large_page):
    tab = visit(large_page)
    tab.hover(".grid rect >> nth=40")
    assert "cpu" in tab.inner_text(".probe")
    tab.click("text=All 5,000 nodes")
    tab.get_by_label("Filter nodes").fill("memory")
    tab.wait_for_selector(".node-list tbody tr")
    assert 0 < tab.locator(".node-list tbody tr").count() < 5000
    rows = tab.evaluate("[...document.querySelectorAll('.node-list tbody tr')].map((row) => row.textContent)")
    assert all("memory" in row for row in rows)
    assert tab.complaints == []


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_verdict_the_cause_and_the_fix_are_on_the_first_screen(visit, pages, width, scheme):
    tab = visit(pages("explain"), width=width, scheme=scheme)
    for text in ("is unschedulable", "90m to 140m free", "would fit on 2 nodes if cpu"):
        box = tab.get_by_text(text).first.bounding_box()
        assert box["y"] + box["height"] < 900


_SQUARES = """[...document.querySelectorAll('.grid rect')].map((square) => {
  const box = square.getBoundingClientRect();
  return [box.x + box.width / 2 + scrollX, box.y + box.height / 2 + scrollY, getComputedStyle(square).fill];
})"""
_PIXELS = """async ([image, points]) => {
  const bitmap = await createImageBitmap(await (await fetch(image)).blob());
  const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context.drawImage(bitmap, 0, 0);
  return points.map(([x, y]) => [...context.getImageData(Math.round(x), Math.round(y), 1, 1).data].slice(0, 3));
}"""
MAPS = ("explain", "simulate", "drain", "capacity", "nodes", "nodes --shrink", "n-1")


@pytest.fixture(scope="session")
def judge(chromium):
    """Return a tab that looks at pictures, which the policy of a page of ours lets nobody do."""
    return chromium.new_page()


# Screenshots are compared with what the page means to show, and with each other, rather than with stored pictures:
# those differ with the fonts of a machine, and the squares of a map have none.
@pytest.mark.parametrize("name", MAPS)
@pytest.mark.parametrize("scheme", SCHEMES)
def test_every_square_of_a_map_is_painted_in_the_colour_of_its_answer_at_every_width(visit, pages, judge, name, scheme):
    painted = []
    for width in WIDTHS:
        tab = visit(pages(name), width=width, scheme=scheme)
        squares = tab.evaluate(_SQUARES)
        image = "data:image/png;base64," + base64.b64encode(tab.screenshot(full_page=True)).decode()
        pixels = judge.evaluate(_PIXELS, [image, [square[:2] for square in squares]])
        meant = [[int(number) for number in re.findall(r"\d+", fill)[:3]] for _, _, fill in squares]
        assert len(squares) >= 17
        assert all(
            abs(a - b) <= 2 for one, other in zip(pixels, meant, strict=True) for a, b in zip(one, other, strict=True)
        )
        painted.append(pixels)
    assert painted[0] == painted[1] == painted[2]


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("width", WIDTHS)
def test_no_part_of_a_page_lies_over_another_and_none_is_empty(visit, pages, name, width):
    tab = visit(pages(name), width=width)
    boxes = tab.evaluate(
        "[document.querySelector('header'), ...document.querySelectorAll('main > section'), "
        "document.querySelector('footer')].map((each) => { const box = each.getBoundingClientRect(); "
        "return [box.top, box.bottom, box.width]; })"
    )
    assert all(bottom - top >= 16 and wide > 0.85 * min(width, 900) - 48 for top, bottom, wide in boxes)
    assert all(below[0] >= above[1] for above, below in itertools.pairwise(boxes))
