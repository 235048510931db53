"""A `CheckReport` in the form that somebody reads: a person, a code host, a test report, a script.

One module per form, each with one function that takes the report and returns lines or a document and decides nothing;
``findings`` is what they have in common. What others wrote (names, messages, reasons) is escaped for its place: no
control character gets out, and no name becomes a command, a directive, a link or an element.
"""
