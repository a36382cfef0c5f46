package openapi

import (
	"cmp"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/httpapi/rest"
)

// object is a JSON object.
type object = map[string]any

// Document returns the OpenAPI document of routes. It returns an error if the JSON form of a type
// does not follow from its fields.
func Document(version string, routes []rest.Route) (map[string]any, error) {
	b := &builder{schemas: newSchemas(), paths: object{}}
	for _, phase := range []func(*rest.Route, object) error{b.answers, b.body} { // answers come first, so that they get the plain names of types
		for i := range routes {
			if err := phase(&routes[i], b.operation(&routes[i])); err != nil {
				return nil, fmt.Errorf("openapi: %s: %w", routes[i].Pattern, err)
			}
		}
	}
	return object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Fiveways", "version": version,
			"description": "The HTTP API of Fiveways: RabbitMQ's management API, and messages, jobs, semaphores and keys for programs that have nothing but HTTP. " +
				"Names in paths are escaped: the virtual host / is %2F.",
		},
		"servers": []object{{"url": "/"}},
		"paths":   b.paths,
		"components": object{
			"schemas": b.schemas.components,
			"securitySchemes": object{
				"basic": object{"type": "http", "scheme": "basic", "description": "A user of the broker and its password. The roles of an operation are tags, of which one is enough."},
			},
			"responses": object{
				"Refused": object{"description": "Why it was not done: a word for programs, a sentence for people.", "content": content("application/json", b.refusal())},
			},
		},
	}, nil
}

type builder struct {
	schemas *schemas
	paths   object
}

var wildcard = regexp.MustCompile(`\{([^}.$]*)(\.\.\.|\$)?\}`)

// pathOf returns the path of a pattern in OpenAPI's form, and the names of its parameters.
func pathOf(pattern string) (path string, parameters []string) {
	for _, m := range wildcard.FindAllStringSubmatch(pattern, -1) {
		if m[1] != "" {
			parameters = append(parameters, m[1])
		}
	}
	path = wildcard.ReplaceAllStringFunc(pattern, func(w string) string {
		if w == "{$}" {
			return ""
		}
		return strings.Replace(w, "...", "", 1)
	})
	return path, parameters
}

// operation returns the entry of a route, which it creates on the first call.
func (b *builder) operation(r *rest.Route) object {
	path, parameters := pathOf(r.Path())
	item, ok := b.paths[path].(object)
	if !ok {
		item = object{}
		b.paths[path] = item
	}
	method := strings.ToLower(r.Method())
	op, ok := item[method].(object)
	if !ok {
		op = object{
			"operationId": operationID(method, path), "summary": r.About.Summary, "tags": []string{area(path)}, "security": security(r.Need),
			"parameters": parametersOf(r, parameters),
		}
		item[method] = op
	}
	return op
}

// area returns the part of the API that a path belongs to.
func area(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	if parts[0] == "api" {
		return parts[1]
	}
	if parts[0] == "" || parts[0] == "assets" {
		return "page"
	}
	return parts[0]
}

var word = regexp.MustCompile(`\{?[A-Za-z0-9]+`)

// operationID returns the name of an operation for generated clients, such as
// getQueuesByVhostByQueue.
func operationID(method, path string) string {
	id := method
	for _, w := range word.FindAllString(strings.TrimPrefix(path, "/api"), -1) {
		if name, isParameter := strings.CutPrefix(w, "{"); isParameter {
			w = "By" + capital(name)
		}
		id += capital(w)
	}
	return id
}

func capital(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

// security returns the tags that give access to a route. One of them is enough.
func security(n rest.Need) []object {
	if n == rest.Anyone {
		return []object{}
	}
	tags := n.Tags()
	if len(tags) == 0 {
		return []object{{"basic": []string{}}}
	}
	return rest.List(tags, func(tag string) object { return object{"basic": []string{tag}} })
}

// ofListings are the query parameters of every listing.
var ofListings = []rest.Parameter{
	{Name: "page", About: "number of the page, from 1; without it the answer is the plain list", Type: "integer"},
	{Name: "page_size", About: "items of a page, at most 500 [100]", Type: "integer"},
	{Name: "name", About: "of a page: items whose names contain this"},
	{Name: "use_regex", About: "name is a regular expression", Type: "boolean"},
	{Name: "sort", About: "the field to sort by; dots lead inside of one"},
	{Name: "sort_reverse", About: "the largest first", Type: "boolean"},
}

var ofColumns = rest.Parameter{Name: "columns", About: "only these fields, separated by commas; a dot selects a field of a field"}

func parametersOf(r *rest.Route, inPath []string) []object {
	out := rest.List(inPath, func(name string) object {
		return object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}}
	})
	query := slices.Clone(r.About.Query)
	if r.About.Listing {
		query = append(query, ofListings...)
	}
	if r.Columns {
		query = append(query, ofColumns)
	}
	for _, q := range query {
		out = append(out, object{"name": q.Name, "in": "query", "description": q.About, "schema": object{"type": cmp.Or(q.Type, "string")}})
	}
	return out
}

// answers adds the responses of a route.
func (b *builder) answers(r *rest.Route, op object) error {
	responses := object{"4XX": object{"$ref": "#/components/responses/Refused"}, "5XX": object{"$ref": "#/components/responses/Refused"}}
	for status, body := range r.Answers() {
		response := object{"description": http.StatusText(status)}
		responses[strconv.Itoa(status)] = response
		switch {
		case r.About.Type != "":
			response["content"] = content(r.About.Type, object{"type": "string"})
		case body != nil:
			schema, err := b.schemas.of(body, answered)
			if err != nil {
				return err
			}
			if r.About.Listing {
				schema = listing(schema)
			}
			response["content"] = content("application/json", schema)
		}
	}
	op["responses"] = responses
	return nil
}

func content(kind string, schema any) object { return object{kind: object{"schema": schema}} }

// listing returns the schema of a listing: a plain list of items, or with ?page= a page of them.
func listing(item any) object {
	list := object{"type": "array", "items": item}
	page := object{"type": "object", "properties": object{"items": list}, "required": []string{"items"}}
	for _, name := range []string{"filtered_count", "item_count", "page", "page_count", "page_size", "total_count"} {
		page["properties"].(object)[name] = object{"type": "integer"}
		page["required"] = append(page["required"].([]string), name)
	}
	return object{"oneOf": []object{list, page}}
}

// body adds the request body of a route.
func (b *builder) body(r *rest.Route, op object) error {
	if r.About.In == nil {
		return nil
	}
	schema, err := b.schemas.of(r.About.In, read)
	if err != nil {
		return err
	}
	kinds := content("application/json", schema)
	if r.About.Raw != "" {
		kinds[r.About.Raw] = object{}
	}
	op["requestBody"] = object{"content": kinds}
	return nil
}

func (b *builder) refusal() any {
	schema, err := b.schemas.of(rest.Refusal{}, answered)
	if err != nil {
		panic("openapi: " + err.Error()) // two strings: cannot happen
	}
	return schema
}
