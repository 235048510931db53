"""``schedctl mcp``: answers for agents, over the Model Context Protocol; a thin user of ``session``.

`clusters` keeps the state, `questions` asks, `answers` makes a short answer of a report, `roots` keeps files in, and
`servers` speaks the protocol with the official SDK, which is imported there alone.
"""
