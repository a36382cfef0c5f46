package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// columns returns the fields of an answer that ?columns= selects, where dots lead to nested fields.
// Without ?columns= it returns the whole answer. In a list or a page it selects from each item.
func columns(r *http.Request, answer any) any {
	names := r.URL.Query().Get("columns")
	if names == "" {
		return answer
	}
	var paths [][]string
	for name := range strings.SplitSeq(names, ",") {
		paths = append(paths, strings.Split(name, "."))
	}
	if p, ok := answer.(interface{ pick(paths [][]string) any }); ok {
		return p.pick(paths)
	}
	return pick(plain(answer), paths)
}

func (p Page[V]) pick(paths [][]string) any {
	items, _ := pick(plain(p.Items), paths).([]any)
	return Page[any]{p.Filtered, p.Count, items, p.Number, p.Pages, p.Size, p.Total}
}

// pick returns the parts of a value that the paths lead to. v is a result of plain.
func pick(v any, paths [][]string) any {
	switch v := v.(type) {
	case []any:
		for i := range v {
			v[i] = pick(v[i], paths)
		}
	case map[string]any:
		out := map[string]any{}
		for _, path := range paths {
			copyPath(out, v, path)
		}
		return out
	}
	return v
}

func copyPath(to, from map[string]any, path []string) {
	v, ok := from[path[0]]
	if !ok {
		return
	}
	if len(path) == 1 {
		to[path[0]] = v
		return
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return
	}
	next, ok := to[path[0]].(map[string]any)
	if !ok {
		next = map[string]any{}
		to[path[0]] = next
	}
	copyPath(next, inner, path[1:])
}

// at returns the value that a path leads to, or nil if there is none.
func at(v any, path []string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	if n, ok := v.(json.Number); ok {
		f, _ := n.Float64() //nolint:errcheck // a value out of range becomes the largest number
		return f
	}
	return v
}

// plain returns a value as decoded from JSON: maps, lists, strings, booleans and json.Number.
func plain(v any) (out any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("httpapi: an answer cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // keeps int64 exact
	if err := d.Decode(&out); err != nil {
		panic("httpapi: an answer cannot be decoded: " + err.Error()) // it was just encoded
	}
	return out
}
