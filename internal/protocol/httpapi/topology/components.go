package topology

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"fiveways/internal/protocol/httpapi/rest"
)

// Components of parameters, as RabbitMQ's plugins call them. Policies are parameters, too, but have paths of their own.
const (
	shovelComponent   = "shovel"
	upstreamComponent = "federation-upstream"
	setComponent      = "federation-upstream-set"
)

// components are those that can be set, with what is asked of their values.
var components = map[string]func(name string, value json.RawMessage) (wrong []string){
	shovelComponent:   checkShovel,
	upstreamComponent: checkUpstream,
	setComponent:      checkUpstreamSet,
}

// checkParameter refuses a parameter in RabbitMQ's words.
func checkParameter(component, name string, value json.RawMessage) error {
	check, ok := components[component]
	wrong := []string{fmt.Sprintf("component %s not found", component)}
	if ok {
		wrong = check(name, value)
	}
	if len(wrong) == 0 {
		return nil
	}
	return rest.BadRequest("Validation failed\n\n" + strings.Join(wrong, "\n") + "\n")
}

// shovelKeys are the settings of a shovel; those that move messages look at some of them only.
var shovelKeys = []string{
	"ack-mode", "add-forward-headers", "add-timestamp-header", "delete-after", "dest-add-forward-headers", "dest-add-timestamp-header", "dest-address",
	"dest-application-properties", "dest-exchange", "dest-exchange-key", "dest-message-annotations", "dest-predeclared", "dest-properties",
	"dest-protocol", "dest-publish-properties", "dest-queue", "dest-queue-args", "dest-uri", "prefetch-count", "publish-properties", "reconnect-delay",
	"src-address", "src-consumer-args", "src-delete-after", "src-exchange", "src-exchange-key", "src-predeclared", "src-prefetch-count",
	"src-protocol", "src-queue", "src-queue-args", "src-uri",
}

func checkShovel(name string, value json.RawMessage) (wrong []string) {
	v, wrong := object(name, value)
	if v == nil {
		return wrong
	}
	if v["src-protocol"] == nil || v["src-protocol"] == "amqp091" {
		switch queue, exchange := has(v, "src-queue"), has(v, "src-exchange"); {
		case queue && exchange:
			wrong = append(wrong, "Cannot specify 'src-exchange' and 'src-queue'")
		case !queue && !exchange:
			wrong = append(wrong, "Must specify 'src-exchange' or 'src-queue'")
		}
	}
	if has(v, "dest-queue") && has(v, "dest-exchange") {
		wrong = append(wrong, "Cannot specify 'dest-exchange' and 'dest-queue'")
	}
	wrong = append(wrong, unknown(name, v, shovelKeys)...)
	return append(wrong, missing(name, v, "dest-uri", "src-uri")...)
}

// upstreamKeys are the settings of an upstream of federation.
var upstreamKeys = []string{
	"ack-mode", "bind-nowait", "channel-use-mode", "consumer-tag", "exchange", "expires", "ha-policy", "max-hops", "message-ttl", "name", "prefetch-count",
	"queue", "queue-type", "reconnect-delay", "resource-cleanup-mode", "trust-user-id", "uri",
}

func checkUpstream(name string, value json.RawMessage) []string {
	v, wrong := object(name, value)
	if v == nil {
		return wrong
	}
	return append(unknown(name, v, upstreamKeys), missing(name, v, "uri")...)
}

func checkUpstreamSet(name string, value json.RawMessage) (wrong []string) {
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

// object is a value that has to be one; nil when it is none.
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
