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


def setup(app: Sphinx) -> None:
    """Make links that leave this folder into the paths of what they lead to: the site is read without the checkout."""

    def name_files_of_the_checkout(app: Sphinx, page: str, text: list[str]) -> None:
        if "/" not in page:  # in a folder, ../ leads to another page
            text[0] = _LINK_OUT.sub(r"\1 (`\2` of the checkout)", text[0])

    app.connect("source-read", name_files_of_the_checkout)
