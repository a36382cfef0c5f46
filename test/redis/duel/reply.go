package duel

import (
	"bufio"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// encode encodes a command as clients send it.
func encode(words ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "*%d\r\n", len(words))
	for _, w := range words {
		fmt.Fprintf(&b, "$%d\r\n%s\r\n", len(w), w)
	}
	return b.String()
}

// readReply reads one reply of either version of the protocol and formats it in one line, each part
// with its kind first: *[$"a" :1 $-1]. Two replies have the same text only if they are equal,
// except for the elements of a set, which are sorted.
func readReply(r *bufio.Reader) (string, error) {
	line, err := r.ReadString('\n')
	if err != nil {
		return line, err
	}
	line = strings.TrimSuffix(line, "\r\n")
	if line == "" {
		return "", nil
	}
	n, _ := strconv.Atoi(line[1:])
	switch line[0] {
	case '$', '=', '!':
		if n < 0 {
			return line, nil
		}
		b := make([]byte, n+2)
		if _, err := io.ReadFull(r, b); err != nil {
			return "", err
		}
		return line[:1] + strconv.Quote(string(b[:n])), nil
	case '%':
		n *= 2
	case '*', '>', '~':
	default:
		return line, nil
	}
	if n < 0 {
		return line, nil
	}
	parts := make([]string, n)
	for i := range parts {
		if parts[i], err = readReply(r); err != nil {
			return "", err
		}
	}
	if line[0] == '~' {
		slices.Sort(parts)
	}
	return line[:1] + "[" + strings.Join(parts, " ") + "]", nil
}

var quoted = regexp.MustCompile(`"(?:[^"\\]|\\.)*"`)

// bulks returns the strings in a reply.
func bulks(reply string) (all []string) {
	for _, text := range quoted.FindAllString(reply, -1) {
		if s, err := strconv.Unquote(text); err == nil {
			all = append(all, s)
		}
	}
	return all
}

// inOrder formats a reply so that the order of its strings does not matter.
func inOrder(reply string) string {
	all := bulks(reply)
	slices.Sort(all)
	return quoted.ReplaceAllString(reply, `""`) + fmt.Sprintf(" %q", all)
}
