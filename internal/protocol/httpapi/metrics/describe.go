package metrics

import "fiveways.dev/fiveways/internal/protocol/httpapi/rest"

// about describes the routes of this package for the OpenAPI document.
var about = map[string]rest.About{
	"GET /metrics":            {Summary: "Metrics for Prometheus, sums over all objects", Out: "", Type: contentType},
	"GET /metrics/per-object": {Summary: "Metrics for Prometheus, of each object by itself", Out: "", Type: contentType},
	"GET /metrics/detailed": {Summary: "Chosen families of metrics of each object", Out: "", Type: contentType, Query: []rest.Parameter{
		{Name: "family", About: "a family of metrics, such as queue_coarse_metrics; may be given more than once"},
		{Name: "vhost", About: "only objects of this virtual host; may be given more than once"},
	}},
}
