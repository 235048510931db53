"""The HTTP statuses that are told apart, by Kubernetes' names for their reasons.

410 is ``Expired`` of a list or a watch that the server no longer keeps, and 404 is what is not there, or not any more.
"""

from __future__ import annotations

from typing import Final

UNAUTHORIZED: Final = 401
FORBIDDEN: Final = 403
NOT_FOUND: Final = 404
CONFLICT: Final = 409
EXPIRED: Final = 410
INVALID: Final = 422
TOO_MANY_REQUESTS: Final = 429
INTERNAL_ERROR: Final = 500
"""From here on the server is in trouble."""
