package management

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// volatile matches fields whose values depend on the run, so that only their types are compared.
var volatile = regexp.MustCompile(`^(.*rate|avg|sample|samples|timestamp|.*_at|.*_since|memory|.*port|pid|.*_oct|.*_cnt|send_pend|os_pid|uptime|run_queue|` +
	`message_id|password_hash|.*version|client_properties|timeout|frame_max|channel_max|rabbit_version|product_name|rates_mode|internal_cluster_id|` +
	`sockets_.*|fd_.*|proc_.*|mem_.*|disk_free.*|io_.*|mnesia_.*|msg_store_.*|queue_index_.*|gc_.*|context_switches.*|.*_used|processors|` +
	`connection_(created|closed)|channel_(created|closed)|queue_(declared|created|deleted)|global_prefetch_count|backlog|head_message_timestamp|state|consumer_capacity|consumer_utilisation|` +
	`auth_attempts.*|internal_id|` + `socket_opts|exchange_types|auth_mechanisms|applications|contexts|log_files?|db_dir|config_files|enabled_plugins|` +
	`net_ticktime|type_of_node|statistics_db_event_queue|listeners|sample_retention_policies|release_series_support_status|.*erlang.*|desc|doc_url|provided_by|stability)$`)

// shape decodes the JSON text of an answer and removes what depends on the run: numbers, times and
// the like are replaced by the names of their types. It sorts lists unless ordered.
func shape(text []byte, ordered bool) any {
	var v any
	d := json.NewDecoder(bytes.NewReader(text))
	if err := d.Decode(&v); err != nil {
		return string(text)
	}
	return stable("", v, ordered)
}

func stable(name string, v any, ordered bool) any {
	if volatile.MatchString(name) {
		return typeOf(v)
	}
	switch v := v.(type) {
	case map[string]any:
		for field := range v {
			v[field] = stable(field, v[field], ordered)
		}
	case []any:
		for i := range v {
			v[i] = stable("", v[i], ordered)
		}
		if !ordered && name != "reason" {
			slices.SortFunc(v, func(a, b any) int { return strings.Compare(sortKey(a), sortKey(b)) })
		}
	}
	return v
}

// sortKey returns the key that orders the elements of a list. What names an element comes first, so
// that an additional or missing field does not change the order.
func sortKey(v any) string {
	var key strings.Builder
	if object, ok := v.(map[string]any); ok {
		for _, field := range []string{"vhost", "name", "user", "component", "source", "destination", "destination_type", "properties_key", "consumer_tag"} {
			fmt.Fprintf(&key, "%v\x00", object[field])
		}
		return key.String()
	}
	b, _ := json.Marshal(v) //nolint:errcheck // it came from JSON
	return string(b)
}

func typeOf(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "list"
	}
	return "object"
}

// differences lists where got differs from want, as `place: what`.
func differences(place string, want, got any) (out []string) {
	if w, ok := want.(map[string]any); ok {
		if g, ok := got.(map[string]any); ok {
			return objectDifferences(place, w, g)
		}
	}
	if w, ok := want.([]any); ok {
		if g, ok := got.([]any); ok {
			return listDifferences(place, w, g)
		}
	}
	w, _ := json.Marshal(want) //nolint:errcheck // it came from JSON
	g, _ := json.Marshal(got)  //nolint:errcheck // as above
	if !bytes.Equal(w, g) && !(strings.HasSuffix(place, "reason") && says(got, want)) {
		out = append(out, fmt.Sprintf("%s: want %s, not %s", place, w, g))
	}
	return out
}

// says reports whether the reason of a refusal begins with RabbitMQ's word for it: a text, or the
// first element of a list. If something is not found, either side may say more.
func says(reason, word any) bool {
	if list, ok := word.([]any); ok && len(list) > 0 {
		word = list[0]
	}
	text, _ := reason.(string)
	w, ok := word.(string)
	w = html.UnescapeString(w) // a part of RabbitMQ escapes reasons as HTML
	return ok && (w == "Not Found" || strings.HasPrefix(text, w+": ") || text == w)
}

func objectDifferences(place string, want, got map[string]any) (out []string) {
	fields := maps.Clone(want)
	maps.Copy(fields, got)
	for _, field := range slices.Sorted(maps.Keys(fields)) {
		w, wanted := want[field]
		g, there := got[field]
		at := strings.TrimPrefix(place+"."+field, ".")
		switch {
		case !wanted:
			out = append(out, fmt.Sprintf("%s: more: %v", at, brief(g)))
		case !there:
			out = append(out, fmt.Sprintf("%s: less: %v", at, brief(w)))
		default:
			out = append(out, differences(at, w, g)...)
		}
	}
	return out
}

func listDifferences(place string, want, got []any) (out []string) {
	if len(want) != len(got) {
		return []string{fmt.Sprintf("%s[]: want %d elements, not %d: %s", place, len(want), len(got), brief(got))}
	}
	for i := range want {
		for _, d := range differences(place+"[]", want[i], got[i]) {
			if !slices.Contains(out, d) {
				out = append(out, d)
			}
		}
	}
	return out
}

func brief(v any) string {
	const most = 300
	b, _ := json.Marshal(v) //nolint:errcheck // it came from JSON
	return string(b[:min(len(b), most)])
}
