"""Texts, the documents in them, and where in them a field is.

A text is what one file or standard input holds. A document knows which part of the text it is; to find a field's line
and column it is read once more, which only messages ever need.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import msgspec

from schedctl.documents import json_values
from schedctl.documents.findings import Path, PathTree, Place, place_in

_SEPARATOR = re.compile(rb"\n---")
_RENDERED_FROM = re.compile(rb"(?:[ \t]*(?:#[^\n]*)?\n){0,16}?# Source: ([^\r\n]+)")
_LOGS = re.compile(rb"^==== START (logs for container [^ \n]+ of pod [^ \n]+ ====)\r?$", re.MULTILINE)
_BLANK = bytes(byte if byte == ord("\n") else ord(" ") for byte in range(256))
KEPT_BYTES = 4 << 20
"""Texts up to this long stay in memory after loading, so that any field in them can be located.

Of longer ones only the place of whole objects is still known.
"""


class Text(msgspec.Struct, eq=False):
    """What one file holds: its name as the user knows it, and its bytes as long as they are kept.

    `folder` is that of a kustomization it was built from, "" for none: its lines are in no file then. `editable` is
    whether lines of it are something to edit: not those of an API server's answer or of a snapshot.
    """

    name: str
    data: bytes | None
    folder: str = ""
    editable: bool = True


class Document(msgspec.Struct, frozen=True):
    """A part of a text: one YAML document, or one of several JSON documents in a row.

    Attributes:
        text: the text.
        start: its first byte.
        end: the byte after its last.
        place: line and column of its first byte.
        json: whether it is JSON.
        origin: the template it was rendered from, as a ``# Source:`` comment of Helm in front of it says; "" for none.
    """

    text: Text
    start: int
    end: int
    place: Place
    json: bool
    origin: str = ""

    def locate(self, paths: PathTree) -> None:
        """Fill in the places of paths in the document; nothing if the text was let go."""
        data = self.text.data
        if data is None:
            return
        if self.json:
            json_values.locate(data[self.start : self.end].decode(errors="replace"), paths, self.place)
        else:
            from schedctl.documents import yaml_values  # PyYAML: only those who need it pay for it

            yaml_values.locate(data[self.start : self.end], paths, self.place)

    def place_of(self, path: Path) -> Place | None:
        """Return where a field is, or what is around it; None if the text was let go."""
        paths = PathTree()
        paths.add(path)
        self.locate(paths)
        return paths.place(path)


def blank_logs(text: Text) -> Place | None:
    """Put spaces in place of all container logs of a cluster dump; return where logs begin that never end.

    ``kubectl cluster-info dump`` into one file writes the logs of every container between the documents, and logs can
    hold anything; lines and offsets stay what they were. The end of a log is the one that names the container of its
    start, and need not begin a line, as a log need not end one. Logs that never end reach to the end of the text.
    """
    data = text.data or b""
    if b"==== START logs for container " not in data:
        return None  # many times faster than the pattern, which stops at every line
    kept, position, endless = [], 0, None
    while start := _LOGS.search(data, position):
        ending = b"==== END " + start[1]
        end = data.find(ending, start.end())
        if end < 0:
            endless = place_in(data, start.start())
        stop = end + len(ending) if end >= 0 else len(data)
        kept += [data[position : start.start()], data[start.start() : stop].translate(_BLANK)]
        position = stop
    if kept:
        text.data = b"".join([*kept, data[position:]])
    return endless


def split(text: Text) -> Iterator[Document | Place]:
    """Yield the documents of a text; the place of a line that begins with ``---`` and goes on with something else.

    kubectl cuts a text before any YAML is parsed, so that a mistake in one document leaves the others readable. White
    space and comments may follow ``---``; kubectl refuses anything else there.
    """
    data = text.data or b""
    start, line = 0, 1
    position = _separator(data, 0)
    while True:
        first = json_values.skip_space(data, start, position)
        if first < position:
            rendered = _RENDERED_FROM.match(data, start, position)
            origin = rendered[1].decode(errors="replace").strip() if rendered else ""
            yield Document(text, start, position, Place(line, 1), data[first] == ord("{"), origin)
        if position == len(data):
            return
        line += data.count(b"\n", start, position)
        start = data.find(b"\n", position) + 1 or len(data)
        rest = data[position + 3 : start].strip()
        if rest and not rest.startswith(b"#"):
            yield Place(line, 4)
        line += 1
        position = _separator(data, start)


def _separator(data: bytes, start: int) -> int:
    """Return where the next line that begins with ``---`` is, the length of the data if there is none."""
    if data.startswith(b"---", start):
        return start
    match = _SEPARATOR.search(data, start)
    return match.start() + 1 if match else len(data)
