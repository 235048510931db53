"""The pictures of a page, as SVG: each is drawn from plain numbers and names and knows no report."""
