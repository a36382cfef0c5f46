package settings

import "strings"

// splitNames splits a list of identifiers, quoted or not.
func splitNames(list string) (names []string) {
	for rest := strings.TrimSpace(list); rest != ""; {
		var name string
		if rest[0] == '"' {
			end := 1
			var b strings.Builder
			for ; end < len(rest); end++ {
				if rest[end] == '"' {
					if end+1 < len(rest) && rest[end+1] == '"' {
						end++
					} else {
						break
					}
				}
				b.WriteByte(rest[end])
			}
			name, rest = b.String(), rest[min(end+1, len(rest)):]
		} else {
			end := strings.IndexByte(rest, ',')
			if end < 0 {
				end = len(rest)
			}
			name, rest = strings.ToLower(strings.TrimSpace(rest[:end])), rest[end:]
		}
		if name != "" {
			names = append(names, name)
		}
		rest = strings.TrimLeft(rest, " \t,")
	}
	return names
}

// QuoteName quotes an identifier if splitNames and the parser would otherwise read it differently.
func QuoteName(name string) string {
	plain := name != ""
	for i, c := range name {
		if c != '_' && (c < 'a' || c > 'z') && (i == 0 || c < '0' || c > '9') {
			plain = false
		}
	}
	if plain {
		return name
	}
	return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
}
