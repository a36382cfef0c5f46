package policies

import (
	"slices"

	"fiveways.dev/fiveways/internal/core/pattern"
)

// oneUpstream checks the settings of federation.
func oneUpstream(names []string, settings map[string]any) string {
	if len(names) > 1 {
		return "cannot specify federation-upstream, federation-upstream-set or federation-upstream-pattern together"
	}
	expression, _ := settings["federation-upstream-pattern"].(string)
	if _, err := pattern.Compile(expression); err != nil {
		return "could not compile pattern " + expression + " to a regular expression. Error: " + err.Error()
	}
	return ""
}

// mirrors checks the settings of mirrored queues.
func mirrors(names []string, settings map[string]any) string {
	if !slices.Contains(names, "ha-mode") {
		return "ha-mode must be specified to specify ha-params, ha-sync-mode or ha-promote-on-shutdown"
	}
	if refusal := mirrorMode(settings); refusal != "" {
		return refusal
	}
	for _, s := range mirrorSettings {
		if v, there := settings[s.name]; there && !s.valid(v) {
			return s.name + " " + s.wanted + term(v) + s.after
		}
	}
	return ""
}

// mirrorSettings are checked in this order.
var mirrorSettings = []struct {
	name          string
	valid         func(any) bool
	wanted, after string // texts before and after the value
}{
	{"ha-sync-mode", word("manual", "automatic"), `must be "manual" or "automatic", got `, ""},
	{"ha-sync-batch-size", positive, "takes an integer greater than 0, ", " given"},
	{"ha-promote-on-shutdown", word("always", "when-synced"), `must be "always" or "when-synced", got `, ""},
	{"ha-promote-on-failure", word("always", "when-synced"), `must be "always" or "when-synced", got `, ""},
}

func mirrorMode(settings map[string]any) string {
	params, given := settings["ha-params"]
	shown := "none"
	if given {
		shown = term(params)
	}
	switch mode := settings["ha-mode"]; mode {
	case "all":
		if given {
			return `ha-mode="all" does not take parameters`
		}
	case "exactly":
		if !positive(params) {
			return `ha-mode="exactly" takes an integer, ` + shown + " given"
		}
	case "nodes":
		return mirrorNodes(params, shown)
	default:
		return term(mode) + " is not a valid ha-mode value"
	}
	return ""
}

func mirrorNodes(params any, shown string) string {
	nodes, isList := params.([]any)
	switch {
	case !isList:
		return `ha-mode="nodes" takes a list, ` + shown + " given"
	case len(nodes) == 0:
		return `ha-mode="nodes" list must be non-empty`
	case slices.ContainsFunc(nodes, func(n any) bool { return !text(n) }):
		return `ha-mode="nodes" takes a list of strings, ` + shown + " was not a string"
	}
	return ""
}
