"""The HTTP extenders of a configuration, as they are really asked: over the network, or from a record of answers.

``messages`` is what is said, ``calls`` how it gets there and back, ``recordings`` keeps both, ``webhooks`` makes
extenders of it that the engine can ask. Whether they are asked at all is decided in `schedctl.session.extenders`.
"""
