package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Limits of ?page_size=, as in RabbitMQ.
const (
	usualPageSize   = 100
	largestPageSize = 500
)

// Collection tells a listing how to handle its items of type T, which are initially known only by
// name. Unless the order depends on it, V, the form shown to the client, is computed only for the
// items of one page.
type Collection[T, V any] struct {
	Name func(T) string                     // the name that ?name= filters by
	Show func([]T) ([]V, error)             // for each item the form shown to the client, an object in JSON
	Sort func(path string, items []T) []any // for each item the value that ?sort=path sorts by; nil, or a nil result: sort by the shown form
}

// Page is one page of a listing, with RabbitMQ's field names.
type Page[V any] struct {
	Filtered int `json:"filtered_count"` // items that match ?name=
	Count    int `json:"item_count"`     // items in this page
	Items    []V `json:"items"`
	Number   int `json:"page"` // starts at 1
	Pages    int `json:"page_count"`
	Size     int `json:"page_size"`
	Total    int `json:"total_count"`
}

// Listing answers with items as the query asks. With ?page, page_size, name and use_regex the
// answer is a Page; without page it is a plain list. ?sort and sort_reverse sort either; the
// default is the order of items.
func Listing[T, V any](r *http.Request, items []T, c Collection[T, V]) (any, error) {
	q := r.URL.Query()
	if !q.Has("page") {
		return sortedSlice(q, items, 0, len(items), c)
	}
	p, err := pageOf(q)
	if err != nil {
		return nil, err
	}
	matches, err := nameFilter(q)
	if err != nil {
		return nil, err
	}
	out := Page[V]{Number: p.number, Size: p.size, Total: len(items)}
	if matches != nil {
		items = slices.DeleteFunc(slices.Clone(items), func(item T) bool { return !matches(c.Name(item)) })
	}
	out.Filtered, out.Pages = len(items), (len(items)+p.size-1)/p.size
	from := (p.number - 1) * p.size
	if p.number-1 > len(items) || from > len(items) { // the first condition catches numbers that overflow
		return nil, Fail(http.StatusBadRequest, "page_out_of_range", fmt.Sprintf("Page out of range, page: %d page size: %d, len: %d", p.number, p.size, len(items)))
	}
	if out.Items, err = sortedSlice(q, items, from, min(from+p.size, len(items)), c); err != nil {
		return nil, err
	}
	out.Count = len(out.Items)
	return out, nil
}

// page selects a part of a listing.
type page struct{ number, size int }

func pageOf(q url.Values) (p page, err error) {
	p.size = usualPageSize
	if p.number, err = strconv.Atoi(q.Get("page")); err == nil && q.Has("page_size") {
		p.size, err = strconv.Atoi(q.Get("page_size"))
	}
	switch {
	case err != nil:
		return p, BadRequest("Pagination parameters are invalid")
	case p.number < 1 || p.size < 1 || p.size > largestPageSize:
		return p, Fail(http.StatusBadRequest, "invalid_pagination_parameters",
			fmt.Sprintf("Invalid pagination parameters: page number %d, page size %s", p.number, cmp.Or(q.Get("page_size"), "undefined")))
	}
	return p, nil
}

// nameFilter returns the filter of ?name=, or nil without one. It ignores case.
func nameFilter(q url.Values) (matches func(name string) bool, err error) {
	text := q.Get("name")
	if text == "" {
		return nil, nil
	}
	if q.Get("use_regex") != "true" {
		text = strings.ToLower(text)
		return func(name string) bool { return strings.Contains(strings.ToLower(name), text) }, nil
	}
	pattern, err := regexp.Compile("(?i)" + text)
	if err != nil {
		return nil, BadRequest("name is no regular expression: " + err.Error())
	}
	return pattern.MatchString, nil
}

// sortedSlice returns the shown form of items[from:to] in the order that the query asks for.
func sortedSlice[T, V any](q url.Values, items []T, from, to int, c Collection[T, V]) ([]V, error) {
	path := q.Get("sort")
	if path == "" || len(items) == 0 {
		return shown(items[from:to], c)
	}
	var values []any
	if c.Sort != nil {
		values = c.Sort(path, items)
	}
	var all []V
	if values == nil {
		var err error
		if all, err = shown(items, c); err != nil {
			return nil, err
		}
		values = List(all, func(v V) any { return at(plain(v), strings.Split(path, ".")) })
	}
	if all != nil { // some may have been deleted meanwhile
		to = min(to, len(all))
		from = min(from, to)
	}
	order := make([]int, len(values))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return compare(values[a], values[b]) })
	if q.Get("sort_reverse") == "true" {
		slices.Reverse(order)
	}
	order = order[from:to]
	if all != nil {
		return List(order, func(i int) V { return all[i] }), nil
	}
	return shown(List(order, func(i int) T { return items[i] }), c)
}

// shown calls Show. Its result is never null in JSON.
func shown[T, V any](items []T, c Collection[T, V]) ([]V, error) {
	if len(items) == 0 {
		return []V{}, nil
	}
	return c.Show(items)
}

// compare orders JSON values of any types as RabbitMQ does: numbers first, then booleans, missing
// values, and strings.
func compare(a, b any) int {
	ra, rb := rankOf(a), rankOf(b)
	if ra != rb {
		return cmp.Compare(ra, rb)
	}
	switch a := a.(type) {
	case bool:
		return cmp.Compare(truth(a), truth(b.(bool)))
	case string:
		return cmp.Compare(a, b.(string))
	}
	if ra == 0 {
		return cmp.Compare(float(a), float(b))
	}
	return 0
}

func rankOf(v any) int {
	switch v.(type) {
	case int, int64, uint64, float64:
		return 0
	case bool:
		return 1
	case string:
		return 3
	}
	return 2
}

func truth(b bool) int {
	if b {
		return 1
	}
	return 0
}

func float(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float64:
		return v
	}
	return 0
}
