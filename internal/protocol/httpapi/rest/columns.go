package rest

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
)

// columns leaves of an answer what ?columns= names, with dots for what is inside of something: all
// of it without. Of a list and of a page, that is meant of each item.
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

// pick is what some paths lead to in a value, which is as plain returns it.
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

// at is what a path leads to, nil when there is nothing.
func at(v any, path []string) any {
	for _, key := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = m[key]
	}
	if n, ok := v.(json.Number); ok {
		f, _ := n.Float64() //nolint:errcheck // what is out of range is the largest there is
		return f
	}
	return v
}

// plain is a value as JSON has it: maps, lists, texts, truths and json.Number.
func plain(v any) (out any) {
	b, err := json.Marshal(v)
	if err != nil {
		panic("httpapi: an answer cannot be encoded: " + err.Error()) // plain structs: cannot happen
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // an int64 stays what it is
	if err := d.Decode(&out); err != nil {
		panic("httpapi: an answer cannot be decoded: " + err.Error()) // it was just encoded
	}
	return out
}
