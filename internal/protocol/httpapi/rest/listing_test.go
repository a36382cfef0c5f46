package rest

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

type item struct {
	Name  string         `json:"name"`
	Size  any            `json:"size,omitempty"`
	Inner map[string]any `json:"inner,omitempty"`
}

var items = []item{
	{Name: "Gamma", Size: 3, Inner: map[string]any{"rate": 0.5, "more": "x"}},
	{Name: "alpha", Size: 20},
	{Name: "beta", Inner: map[string]any{"rate": 7}},
	{Name: "q.4", Size: "many"},
}

var names = Collection[item, item]{
	Name: func(i item) string { return i.Name },
	Show: func(some []item) ([]item, error) { return some, nil },
}

func TestListing(t *testing.T) {
	for _, tc := range []struct{ query, want string }{
		{"columns=name", `[{"name":"Gamma"},{"name":"alpha"},{"name":"beta"},{"name":"q.4"}]`},
		{"columns=name&sort=name&sort_reverse=true", `[{"name":"q.4"},{"name":"beta"},{"name":"alpha"},{"name":"Gamma"}]`},
		{"columns=name&sort=size", `[{"name":"Gamma"},{"name":"alpha"},{"name":"beta"},{"name":"q.4"}]`},
		{"columns=name&sort=inner.rate", `[{"name":"Gamma"},{"name":"beta"},{"name":"alpha"},{"name":"q.4"}]`},
		{"columns=inner.rate,none.x,name.x&page=1&page_size=1", `{"filtered_count":4,"item_count":1,"items":[{"inner":{"rate":0.5}}],"page":1,"page_count":4,"page_size":1,"total_count":4}`},
		{"columns=name&name=gam", `[{"name":"Gamma"},{"name":"alpha"},{"name":"beta"},{"name":"q.4"}]`}, // name filters only pages
		{"columns=name&page=2&page_size=3", `{"filtered_count":4,"item_count":1,"items":[{"name":"q.4"}],"page":2,"page_count":2,"page_size":3,"total_count":4}`},
		{"columns=name&page=3&page_size=2", `{"filtered_count":4,"item_count":0,"items":[],"page":3,"page_count":2,"page_size":2,"total_count":4}`}, // as in RabbitMQ
		{"columns=name&page=3&page_size=3", `page_out_of_range: Page out of range, page: 3 page size: 3, len: 4`},
		{"columns=name&page=9000000000000000000", `page_out_of_range: Page out of range, page: 9000000000000000000 page size: 100, len: 4`},
		{"columns=name&page=1&name=GAM", `{"filtered_count":1,"item_count":1,"items":[{"name":"Gamma"}],"page":1,"page_count":1,"page_size":100,"total_count":4}`},
		{"columns=name&page=1&name=.", `{"filtered_count":1,"item_count":1,"items":[{"name":"q.4"}],"page":1,"page_count":1,"page_size":100,"total_count":4}`},
		{"columns=name&page=1&name=" + url.QueryEscape("^[a-c]") + "&use_regex=true&sort=name&sort_reverse=true",
			`{"filtered_count":2,"item_count":2,"items":[{"name":"beta"},{"name":"alpha"}],"page":1,"page_count":1,"page_size":100,"total_count":4}`},
		{"page=1&name=none", `{"filtered_count":0,"item_count":0,"items":[],"page":1,"page_count":0,"page_size":100,"total_count":4}`},
		{"page=0&page_size=2", `invalid_pagination_parameters: Invalid pagination parameters: page number 0, page size 2`},
		{"page=1&page_size=501", `invalid_pagination_parameters: Invalid pagination parameters: page number 1, page size 501`},
		{"page=x", `bad_request: Pagination parameters are invalid`},
		{"page=1&page_size=", `bad_request: Pagination parameters are invalid`},
		{"page=1&name=(&use_regex=true", "bad_request: name is no regular expression: error parsing regexp: missing closing ): `(?i)(`"},
	} {
		r := httptest.NewRequest("GET", "/?"+tc.query, nil)
		v, err := Listing(r, items, names)
		got := ""
		if err != nil {
			re := RefusalOf(err)
			got = re.Refusal.Error + ": " + re.Reason
		} else {
			b, err := json.Marshal(columns(r, v))
			if err != nil {
				t.Fatal(err)
			}
			got = string(b)
		}
		if got != tc.want {
			t.Errorf("%s:\n got %s\nwant %s", tc.query, got, tc.want)
		}
	}
	if items[0].Name != "Gamma" || len(items) != 4 {
		t.Error("a listing has changed its items")
	}
}

// Only the items of the page are shown, unless the order depends on the shown form.
func TestListingShowsAPage(t *testing.T) {
	shown := 0
	c := Collection[int, item]{
		Name: func(n int) string { return fmt.Sprint(n) },
		Show: func(some []int) ([]item, error) {
			shown += len(some)
			return List(some, func(n int) item { return item{Name: fmt.Sprint(n)} }), nil
		},
		Sort: func(path string, some []int) []any {
			if path != "name" {
				return nil
			}
			return List(some, func(n int) any { return fmt.Sprint(n) })
		},
	}
	many := make([]int, 1000)
	for i := range many {
		many[i] = i
	}
	for _, tc := range []struct {
		query string
		want  int
	}{
		{"page=3&page_size=10", 10}, {"page=3&page_size=10&sort=name", 10}, {"page=3&page_size=10&sort=size", 1000}, {"sort=name", 1000}, {"page=1&name=99", 19},
	} {
		shown = 0
		if _, err := Listing(httptest.NewRequest("GET", "/?"+tc.query, nil), many, c); err != nil {
			t.Fatal(err)
		}
		if shown != tc.want {
			t.Errorf("%s: %d items were shown, want %d", tc.query, shown, tc.want)
		}
	}
}

func TestOneObjectHasColumns(t *testing.T) {
	got, err := json.Marshal(columns(httptest.NewRequest("GET", "/?columns=size", nil), items[1]))
	if err != nil || !strings.EqualFold(string(got), `{"size":20}`) {
		t.Errorf("%s, %v", got, err)
	}
}
