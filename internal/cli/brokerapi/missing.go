package brokerapi

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"fiveways.dev/fiveways/internal/config"
)

// The API's texts for a missing object, and for a missing virtual host.
const (
	notThere = "Not Found"
	noVHost  = "vhost_not_found"
)

// absences map refusals that name missing objects in other words to the command that lists the
// objects.
var absences = []struct {
	says    *regexp.Regexp
	command string
}{
	{regexp.MustCompile(`no such virtual host$|no such vhost`), "vhost"},
	{regexp.MustCompile(`no such user$`), "user"},
	{regexp.MustCompile(`no such queue$|^no queue '`), "queue"},
	{regexp.MustCompile(`no such exchange$|^no exchange '`), "exchange"},
}

// withList adds to a refusal the command that lists the existing objects, if there is one.
func withList(text string) string {
	for _, a := range absences {
		if a.says.MatchString(text) {
			return fmt.Sprintf("%s; `fiveways %s list` shows what there is", text, a.command)
		}
	}
	return text
}

// kinds describe the paths of the API by their first word. skipped is the number of words between
// it and the name of the object. If inVHost is set, the last of them is the virtual host.
var kinds = map[string]struct {
	command string
	what    string // what is missing; "" is the command
	skipped int
	inVHost bool
}{
	"queues":            {command: "queue", skipped: 1, inVHost: true},
	"exchanges":         {command: "exchange", skipped: 1, inVHost: true},
	"policies":          {command: "policy", skipped: 1, inVHost: true},
	"operator-policies": {command: "operator-policy", skipped: 1, inVHost: true},
	"parameters":        {command: "parameter", skipped: 2, inVHost: true},
	"shovels":           {command: "shovel", skipped: 2, inVHost: true},
	"permissions":       {command: "permission", what: "permission of", skipped: 1, inVHost: true},
	"topic-permissions": {command: "permission", what: "topic permission of", skipped: 1, inVHost: true},
	"connections":       {command: "connection"},
	"channels":          {command: "channel"},
	"keys":              {command: "key"},
	"users":             {command: "user"},
	"vhosts":            {command: "vhost"},
}

// missing returns the error for a path whose object does not exist. It suggests a similar name.
func (op *Client) missing(ctx context.Context, path string) error {
	steps := strings.Split(path, "/")
	parts := strings.Split(strings.TrimPrefix(path, "/api/"), "/")
	for i, part := range parts {
		if plain, err := url.PathUnescape(part); err == nil {
			parts[i] = plain
		}
	}
	k, ok := kinds[parts[0]]
	if !ok || len(parts) < k.skipped+2 {
		return fmt.Errorf("the broker does not have %s", path)
	}
	where := ""
	if k.inVHost {
		where = fmt.Sprintf(" in vhost '%s'", parts[k.skipped])
	}
	name, hint := parts[k.skipped+1], ""
	if near := config.Nearest(name, op.names(ctx, strings.Join(steps[:k.skipped+3], "/"))); near != "" {
		hint = fmt.Sprintf("did you mean '%s'? ", near)
	}
	return fmt.Errorf("no %s '%s'%s; %s`fiveways %s list` shows what there is", cmp.Or(k.what, k.command), name, where, hint, k.command)
}

// names returns the names in a list of the API, or none if the user may not see it.
func (op *Client) names(ctx context.Context, path string) (names []string) {
	var all []struct {
		Name string `json:"name"`
	}
	if op.Do(ctx, http.MethodGet, path+"?columns=name", nil, &all) != nil {
		return nil
	}
	for _, o := range all {
		names = append(names, o.Name)
	}
	return names
}
