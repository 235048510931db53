"""What kube-scheduler decides or says otherwise since a minor version, where no feature gate switches it.

Each is a value that a plugin asks its `Release` for when it is made; docs/kube-versions.md lists them with the gates.
"""

from __future__ import annotations

from enum import Enum


class ReleaseChange(Enum):
    """One change: since when, what it is, in words, and the KEP or pull request that made it, where that is known."""

    def __init__(self, since: tuple[int, int], text: str, source: str = "") -> None:
        self.since = since
        self.text = text
        self.source = source

    SCORED_DEVICES = (
        (1, 35),
        "DynamicResources scores nodes: the earlier an alternative of a request, the better",
        "KEP-4816",
    )
    NODE_NAME_FIRST = (
        (1, 37),
        "NodeName is asked before NodeUnschedulable, so it is the reason given where both reject a node",
    )
    UNNAMED_FEATURES = (1, 36), "the message about a node without a declared feature no longer names the feature"
    HOST_USER_NAMESPACES = (
        (1, 36),
        "a pod with a user namespace on the host network needs a node that declares the feature",
    )
    BIND_MOUNT_OPTIONS = (
        (1, 37),
        "a pod with bind mount options needs a node that declares the feature",
        "#140013",
    )
    OPT_IN_DRIVERS = (
        (1, 36),
        "a node without the CSI driver of a volume is rejected only if the CSIDriver object asks for it",
        "KEP-5030",
    )
    SILENT_DEVICES = (1, 37), "DynamicResources adds no text of its own to the event when it has nothing to deallocate"
    RESIZED_SUMS = (
        (1, 37),
        "a resized pod requests the largest of three sums over its containers (asked, granted, in use); before, the"
        " largest was taken of each container",
    )
    IMAGE_VOLUMES = (
        (1, 36),
        "ImageLocality counts the images of volumes",
        "#130231",
    )
    IMAGES_OF_ALL = (
        (1, 37),
        "ImageLocality's score is relative to all images, those of volumes among them",
        "#138951",
    )
    PREEMPTION_MESSAGE = (
        (1, 37),
        "the event of a pod that preempts names the node and the number of victims",
        "#140180",
    )
    DEVICE_ERRORS = (
        (1, 37),
        "errors of device allocation name the device, and capacity that cannot be computed ends the cycle",
    )
    COMPATIBILITY_GROUPS = (
        (1, 37),
        "a ResourceSlice with compatibility groups is ignored, which makes its pool incomplete",
    )
    COUNTERS_BY_NODE = (1, 37), "shared counters count only for nodes that reach their ResourceSlice"
    COUNTERS_BY_DRIVER = (
        (1, 37),
        "pools of one name have counters by driver; in v1.35 and v1.36 they share those of the pool asked first",
        "#140435",
    )
    WHOLE_REQUESTS = (1, 37), "a request for all devices fails when one of them has no capacity left"
    ALL_SHARES = (
        (1, 37),
        "a device that is shared without a capacity request counts as having used its counters",
        "#140437",
    )
    BALANCE_IMPROVEMENT = (
        (1, 36),
        "NodeResourcesBalancedAllocation scores how much the pod evens out the use of a node, not how even it is",
        "#135573",
    )
    PLAIN_ALLOCATOR = (1, 35), "DRAResourceClaimDeviceStatus alone no longer selects the experimental allocator"
    CAPITAL_POD = (1, 36), "the message about a claim that belongs to another pod writes Pod with a capital letter"
    WHOLE_POOLS = (
        (1, 35),
        "a pool of devices is judged by all of its ResourceSlices, not only by those that the node reaches",
    )
    PAIRED_ALLOCATIONS = (1, 36), "a pod with allocated and unallocated claims is scored; before, that was an error"
    SPARED_VICTIMS = (1, 35), "victims that are being deleted already are not deleted again"
    DISTINCT_VALUES = (
        (1, 35),
        "the values of distinctAttribute are compared; before, any two devices counted as distinct",
    )
    COUNTERS_BY_POOL = (
        (1, 35),
        "devices draw on the counters of their pool; before, on those of their own ResourceSlice",
    )
    FIRST_SHARE_DRAWS = (1, 35), "the first share of a device draws on counters; before, every share did"
    OWN_CAPACITY = (
        (1, 35),
        "the capacity that is checked when a device is taken is its own; before, that of the device which stands in its"
        " ResourceSlice where as many stand before it as the request has got",
    )
    KNOWN_TAINT_EFFECTS = (
        (1, 35),
        "only the taint effects NoSchedule and NoExecute of devices count; before, every effect did",
        "KEP-5055",
    )
    SHARED_EXTENDED_RESOURCES = (
        (1, 35),
        "devices that answer extended resources are shared by containers that run one after another, count in scores"
        " and are given by nodes that list none of the resource, and every DeviceClass is a resource by its own name;"
        " before, none of this, and huge pages that a node does not list count as there, unless the pod asks for an"
        " extended resource",
        "KEP-5004",
    )
    PLAIN_TAINT_RULES = (
        (1, 35),
        "DeviceTaintRules choose devices by driver, pool and name; before, by class and CEL as well",
        "KEP-5055",
    )
    SELECTED_TAINTS = (1, 37), "a DeviceTaintRule without a selector taints no device; before, every one"
    OWN_ALTERNATIVES = (
        (1, 36),
        "an alternative for all devices is judged by its own selectors and goes on by itself; before, the second took"
        " what the first one's selectors match, and after its first device the first alternative went on",
    )
    ONE_ORDER = (
        (1, 36),
        "the devices of a request are tried in one order; before, in every order",
    )
    CLEAN_REFUSALS = (
        (1, 36),
        "a device that is refused or given up gives back what it drew on counters; before, one that a taint, a"
        " constraint or a lack of capacity refused kept it, and so did shares",
    )
    COUNTED_SHARES = (1, 36), "devices that are shared count as having used counters; before, only those held whole"
    LIST_ATTRIBUTES = (
        (1, 37),
        "selectors see lists in attributes of devices; before, they are an error unless DRAListTypeAttributes is on,"
        " which constraints pay no attention to",
        "KEP-5491",
    )
    DERIVED_ATTRIBUTES = (
        (1, 37),
        "a request that derives attributes is an error, unless DRADerivedAttributes is on",
        "KEP-6080",
    )
    NODE_OPERATIONS = (
        (1, 37),
        "a claim with devices that need no work on the node needs one that declares DRAOptionalNodeOperations",
        "KEP-5945",
    )
    EVERY_VALUE = (
        (1, 37),
        "distinctAttribute compares a device with all that were chosen; before, with the last one of each request",
    )
    GATED_TAINT_RULES = (
        (1, 35),
        "DeviceTaintRules have a feature gate of their own, DRADeviceTaintRules",
        "KEP-5055",
    )
    CLASS_EVENTS = (1, 35), "NodeResourcesFit requeues a pod for a DeviceClass that may stand in for what it lacks"
    ADMITTED_ACTIVATIONS = (1, 35), "a pod that is activated during its backoff is not asked about by PreEnqueue again"
    SILENT_BINDINGS = (
        (1, 35),
        "binding a nominated pod is no event; before, it requeued pods that do not outrank it as if a pod had left",
    )
    CLEARED_NOMINATIONS = (
        (1, 35),
        "a failed attempt takes the nomination from a pod; before, not so in a profile without PostFilter, nor with"
        " NominatedNodeNameForExpectation on",
        "KEP-5278",
    )
    OWN_LABELS = (
        (1, 36),
        "InterPodAffinity requeues a pod whose own labels change",
        "#135394",
    )
    MUTUAL_ANTI_AFFINITY = (
        (1, 36),
        "InterPodAffinity requeues a pod when one leaves whose anti-affinity was about it",
        "#135325",
    )
    NOMINATED_PODS = (
        (1, 36),
        "a nominated pod that is deleted requeues pods that InterPodAffinity or PodTopologySpread rejected",
        "#135392",
    )
    SPARED_WAITING_PODS = (
        (1, 36),
        "a pod that waits for Permit and is preempted backs off; before, it counted as rejected, and waited for long",
        "#135719",
    )
    ANY_ANTI_AFFINITY_TERM = (
        (1, 37),
        "InterPodAffinity requeues a pod when one leaves that any of its anti-affinity terms is about; before, all"
        " of them had to be",
        "#139161",
    )
    DELETED_CLAIMS = (
        (1, 37),
        "DynamicResources requeues pods when an allocated ResourceClaim is deleted",
        "#140831",
    )
    TARGET_POD_EVENTS = (
        (1, 37),
        "an update of a pending pod is an event about TargetPod or UnscheduledPod; before, about UnschedulablePod",
        "#135905",
    )
    REGISTERED_TAINTS = (
        (1, 37),
        "a plugin hears of changed taints if it registers them; before, who registered new nodes also heard of them",
        "#138708",
    )
    GATES_ASKED_AGAIN = (
        (1, 37),
        "PreEnqueue is asked again about a gated pod that has waited for five minutes",
        "#139162",
    )
    ACTIVATED_PREEMPTORS = (1, 37), "a pod that preempts one that waits for Permit is active at once, without backoff"
