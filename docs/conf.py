"""How Sphinx makes the site out of the pages of this folder; `make docs` runs it."""

import re

from sphinx.application import Sphinx

from schedctl.versions import __version__

project = "schedctl"
author = "the schedctl contributors"
release = version = __version__
extensions = ["myst_parser"]
exclude_patterns = ["_reference"]
nitpicky = True
smartquotes = False  # options keep their two hyphens

myst_enable_extensions = ["attrs_inline", "colon_fence", "deflist"]
myst_heading_anchors = 4  # links to headings are those of a code host
suppress_warnings = ["misc.highlighting_failure"]  # kubectl's shortened outputs are nearly YAML

html_theme = "furo"
html_title = f"schedctl {__version__}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}

_LINK_OUT = re.compile(r"\[([^\]]+)\]\(\.\./([^)]+)\)")


def _path(link: re.Match[str]) -> str:
    """Return what a link out of this folder reads in the site, which is read without the checkout."""
    text, path = link[1], link[2]
    return f"`{path}`" if path.startswith(text.strip("`")) else f"{text} (`{path}` in the checkout)"


def _without_links_out(app: Sphinx, page: str, text: list[str]) -> None:
    if "/" not in page:  # in a folder, ../ leads to another page
        text[0] = _LINK_OUT.sub(_path, text[0])


def setup(app: Sphinx) -> None:
    """Change pages before they are read."""
    app.connect("source-read", _without_links_out)
