"""The next pods of a template are looked ahead to early here, so that short series of pods reach that."""

from collections.abc import Iterator

import pytest

from schedctl.engine.batching import equivalence_classes


@pytest.fixture(autouse=True, scope="module")
def early_lookahead() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(equivalence_classes, "IN_A_ROW", 2)
        yield
