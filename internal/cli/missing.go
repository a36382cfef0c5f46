package cli

import (
	"fmt"
	"net/url"
	"strings"
)

// What the API says of what is not there, and of a virtual host that is not.
const (
	notThere = "Not Found"
	noVHost  = "vhost_not_found"
)

// kinds are the commands for what stands in the API under a word, and how many words of a path come between it and the name: the component of a parameter, a word,
// and the virtual host, which is the last of them.
var kinds = map[string]struct {
	command string
	skipped int
	inVHost bool
}{
	"queues": {"queue", 1, true}, "exchanges": {"exchange", 1, true}, "policies": {"policy", 1, true}, "operator-policies": {"operator-policy", 1, true},
	"parameters": {"parameter", 2, true}, "connections": {"connection", 0, false}, "channels": {"channel", 0, false}, "keys": {"key", 0, false},
	"shovels": {"shovel", 2, true},
}

// missing is the error that what a path names is not there.
func missing(path string) error {
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
	return fmt.Errorf("no %s '%s'%s; `fiveways %s list` shows what there is", k.command, parts[k.skipped+1], where, k.command)
}
