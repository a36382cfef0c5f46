package topology

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
	"fiveways.dev/fiveways/internal/shovel/dynamic"
)

// Components of parameters, named as in RabbitMQ's plugins. Policies are parameters too, but have
// paths of their own.
const (
	upstreamComponent = "federation-upstream"
	setComponent      = "federation-upstream-set"
)

// components are the components that can be set, with the functions that check their values.
var components = map[string]func(name string, value json.RawMessage, by dynamic.Access) (wrong []string){
	dynamic.Component: dynamic.Check,
	upstreamComponent: checkUpstream,
	setComponent:      checkUpstreamSet,
}

// checkParameter returns RabbitMQ's error if a parameter is invalid.
func checkParameter(component, name string, value json.RawMessage, by dynamic.Access) error {
	if isPolicy(component) {
		return errPolicy
	}
	check, ok := components[component]
	wrong := []string{fmt.Sprintf("component %s not found", component)}
	if ok {
		wrong = check(name, value, by)
	}
	if len(wrong) == 0 {
		return nil
	}
	return rest.Invalid(wrong...)
}

// upstreamKeys are the settings of a federation upstream.
var upstreamKeys = []string{
	"ack-mode", "bind-nowait", "channel-use-mode", "consumer-tag", "exchange", "expires", "ha-policy", "max-hops", "message-ttl", "name", "prefetch-count",
	"queue", "queue-type", "reconnect-delay", "resource-cleanup-mode", "trust-user-id", "uri",
}

func checkUpstream(name string, value json.RawMessage, _ dynamic.Access) []string {
	v, wrong := object(name, value)
	if v == nil {
		return wrong
	}
	return append(unknown(name, v, upstreamKeys), missing(name, v, "uri")...)
}

func checkUpstreamSet(name string, value json.RawMessage, _ dynamic.Access) (wrong []string) {
	var upstreams []map[string]any
	if err := json.Unmarshal(value, &upstreams); err != nil {
		return []string{fmt.Sprintf("%s should be a list of upstreams", name)}
	}
	for _, u := range upstreams {
		wrong = append(wrong, unknown(name, u, append([]string{"upstream"}, upstreamKeys...))...)
		wrong = append(wrong, missing(name, u, "upstream")...)
	}
	return wrong
}

// object decodes a value that must be a JSON object. It returns nil if it is not one.
func object(name string, value json.RawMessage) (v map[string]any, wrong []string) {
	if err := json.Unmarshal(value, &v); err != nil || v == nil {
		return nil, []string{name + " should be an object"}
	}
	return v, nil
}

func has(v map[string]any, key string) bool { return v[key] != nil }

func unknown(name string, v map[string]any, known []string) []string {
	var terms []string
	for _, key := range slices.Sorted(maps.Keys(v)) {
		if !slices.Contains(known, key) {
			terms = append(terms, key)
		}
	}
	if len(terms) == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Unrecognised terms %s in %s", strings.Join(terms, ", "), name)}
}

func missing(name string, v map[string]any, keys ...string) (wrong []string) {
	for _, key := range keys {
		if !has(v, key) {
			wrong = append(wrong, fmt.Sprintf("Key %q not found in %s", key, name))
		}
	}
	return wrong
}
