"""Nobody listening is the same nobody in every process, so that what is read for nobody costs nothing there, either."""

import pickle

from schedctl.cache.reads import UNHEARD
from schedctl.testing.builders import cluster, node


def test_a_cluster_that_goes_to_a_worker_process_is_still_read_for_nobody():
    assert pickle.loads(pickle.dumps(cluster(node("a")))).reads is UNHEARD
