"""ImageLocality."""

import pytest

from schedctl.framework.cycles import Cycle
from schedctl.plugins.image_locality import MAX_CONTAINER_THRESHOLD, MIN_THRESHOLD, ImageLocality
from schedctl.testing.builders import cluster, handle, node, pod
from schedctl.testing.plugin_answers import parts_read

MI = 1 << 20


def image(*names, mi=500):
    return {"names": list(names), "sizeBytes": mi * MI}


def scores(c, incoming, plugin=None, nodes=None):
    return (plugin or ImageLocality(None, handle())).score(Cycle(incoming), nodes or c.nodes_by_name).tolist()


def on(mi):
    """Return the score of images of so many MiB that one image of the pod counts."""
    counted = min(max(mi * MI, MIN_THRESHOLD), MAX_CONTAINER_THRESHOLD) - MIN_THRESHOLD
    return 100 * counted // (MAX_CONTAINER_THRESHOLD - MIN_THRESHOLD)


def one_node(*images):
    return cluster(node("a", images=list(images)))


@pytest.mark.parametrize(
    ("held", "image", "score"),
    [
        pytest.param(image("web:v1"), "web:v1", on(500), id="an image counts by its size"),
        pytest.param(image("web:v1", mi=23), "web:v1", 0, id="small images do not count"),
        pytest.param(image("web:v1", mi=24), "web:v1", on(24), id="from a threshold on they do"),
        pytest.param(image("web:v1", mi=1000), "web:v1", 100, id="a thousand MiB are enough"),
        pytest.param(image("web:v1", mi=5000), "web:v1", 100, id="and more count no more"),
        pytest.param(image("web:v1"), "web:v2", 0, id="another tag is another image"),
        pytest.param(image("web:latest"), "web", on(500), id="no tag means latest"),
        pytest.param(image("hub:5000/web:latest"), "hub:5000/web", on(500), id="a port is no tag"),
        pytest.param(image("web"), "web", 0, id="names of a node are taken as they are"),
        pytest.param(image("web:v1", "web@sha256:0"), "web@sha256:0", on(500), id="an image has many names"),
        pytest.param(image(":latest"), "", on(500), id="even no name is a name"),
    ],
)
def test_one_image(held, image, score):
    assert scores(one_node(held), pod(image=image)) == [score]


def test_an_image_counts_by_the_share_of_nodes_that_have_it():
    c = cluster(node("a", images=[image("web:v1", mi=900)]), node("b", images=[image("web:v1", mi=900)]), node("c"))
    assert scores(c, pod(image="web:v1")) == [on(600), on(600), 0]


def test_the_size_of_an_image_is_that_of_the_first_node_by_name():
    c = cluster(node("b", images=[image("web:v1", mi=900)]), node("a", images=[image("web:v1", mi=300)]))
    assert scores(c, pod(image="web:v1")) == [on(300), on(300)]


def test_an_image_listed_twice_counts_once_and_by_its_first_size():
    assert scores(one_node(image("web:v1", "web:v1"), image("web:v1", mi=900)), pod(image="web:v1")) == [on(500)]


def test_init_containers_and_image_volumes_count():
    c = one_node(image("web:v1", mi=200), image("tool:v1", mi=300), image("model:v1", mi=400))
    volumes = [{"name": "m", "image": {"reference": "model:v1"}}, {"name": "e", "emptyDir": {}}]
    incoming = pod(image="web:v1", initContainers=[{"name": "i", "image": "tool:v1"}], volumes=volumes)
    assert scores(c, incoming) == [100 * (900 - 23) // (3000 - 23)]


def test_an_image_named_twice_counts_twice():
    containers = [{"name": "a", "image": "web:v1"}, {"name": "b", "image": "web:v1"}]
    assert scores(one_node(image("web:v1")), pod(containers=containers)) == [100 * (1000 - 23) // (2000 - 23)]


def test_a_pod_without_containers_scores_nothing():
    assert scores(one_node(image("web:v1")), pod(containers=[])) == [0]


def test_a_subset_of_nodes_is_scored_by_all_of_them():
    c = cluster(node("a", images=[image("web:v1", mi=900)]), node("b"), node("c"))
    assert scores(c, pod(image="web:v1"), nodes=c.nodes.take([1, 0])) == [0, on(300)]


def test_the_image_index_is_rebuilt_when_nodes_change():
    c = cluster(node("a", images=[image("web:v1", mi=900)]))
    plugin, incoming = ImageLocality(None, handle()), pod(image="web:v1")
    assert scores(c, incoming, plugin) == [on(900)]
    c.add_pod(pod("other", on="a"))
    assert scores(c, incoming, plugin) == [on(900)]
    with c.fork():
        c.add_node(node("b"))
        assert scores(c, incoming, plugin) == [on(450), 0]
        c.add_node(node("b", images=[image("web:v1", mi=900)]))
        assert scores(c, incoming, plugin) == [on(900), on(900)]
    assert scores(c, incoming, plugin) == [on(900)]
    assert scores(cluster(node("a"), node("b")), incoming, plugin) == [0, 0]


def test_answer_rests_on_all_nodes_and_on_no_pod():
    c = cluster(node("a"))
    assert parts_read(ImageLocality(None, handle(c)), pod(), c.nodes) == {"description", "versions"}


def test_pods_of_the_same_images_have_one_signature():
    plugin = ImageLocality(None, handle())
    assert plugin.signature(pod("a", image="web")) == plugin.signature(pod("b", image="web:latest", cpu="1"))
    assert plugin.signature(pod("a", image="web")) != plugin.signature(pod("a", image="web:v1"))
