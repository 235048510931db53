//go:build !before_v1_35

package main

import (
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	"k8s.io/component-base/featuregate"
	fwk "k8s.io/kube-scheduler/framework"
)

type (
	plugin        = fwk.Plugin
	filterPlugin  = fwk.FilterPlugin
	scorePlugin   = fwk.ScorePlugin
	nodeScore     = fwk.NodeScore
	nodeScoreList = fwk.NodeScoreList
)

func dependencies() map[featuregate.Feature][]featuregate.Feature {
	return utilfeature.DefaultMutableFeatureGate.(interface {
		Dependencies() map[featuregate.Feature][]featuregate.Feature
	}).Dependencies()
}
