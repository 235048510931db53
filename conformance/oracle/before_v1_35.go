//go:build before_v1_35

package main

import (
	"k8s.io/component-base/featuregate"
	"k8s.io/kubernetes/pkg/scheduler/framework"
)

type (
	plugin        = framework.Plugin
	filterPlugin  = framework.FilterPlugin
	scorePlugin   = framework.ScorePlugin
	nodeScore     = framework.NodeScore
	nodeScoreList = framework.NodeScoreList
)

// Gates came to know of each other in v1.35.
func dependencies() map[featuregate.Feature][]featuregate.Feature { return nil }
