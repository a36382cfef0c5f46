package value

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/numeric"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// maxJSONDepth limits the nesting of a JSON text.
const maxJSONDepth = 5000

// JSONNode is one value of a JSON text. Only the field for its Kind is set.
type JSONNode struct {
	Kind    byte // n null, b boolean, # number, s string, a array, o object
	Bool    bool
	Number  numeric.Number
	Text    string // of a string; the source text of a number
	Source  string // the text of the whole value, in json only
	Elems   []*JSONNode
	Members []JSONMember
}

// JSONMember is a member of an object.
type JSONMember struct {
	Key   string
	Value *JSONNode
}

// parseJSON validates a json text, which is kept unchanged, or normalizes a jsonb text.
func parseJSON(t *Type, s string) (Datum, error) {
	node, err := ParseJSON(s, t == JSONB)
	if err != nil {
		return nil, err
	}
	if t == JSON {
		return s, nil
	}
	return string(node.Append(nil)), nil
}

// ParseJSON parses a JSON text. If binary is set, the result is normalized like jsonb: sorted
// unique keys, with numbers and strings decoded.
func ParseJSON(s string, binary bool) (*JSONNode, error) {
	return (&jsonParser{text: s, binary: binary, decode: binary}).parse()
}

// ParseJSONMembers parses a JSON text whose members are wanted as they are written: in their order,
// duplicates included, each with its Source.
func ParseJSONMembers(s string) (*JSONNode, error) {
	return (&jsonParser{text: s, decode: true}).parse()
}

type jsonParser struct {
	text   string
	at     int
	binary bool
	decode bool // strings are decoded, not only checked
}

func (p *jsonParser) parse() (*JSONNode, error) {
	node, err := p.value(0, "Expected JSON value, but found \"%s\".")
	if err != nil {
		return nil, err
	}
	if token := p.token(); token != "" {
		return nil, p.unexpected(token, "Expected end of input, but found \"%s\".")
	}
	return node, nil
}

func badJSON(detail string, args ...any) error {
	return pgerror.New(pgerror.InvalidText, "invalid input syntax for type json").WithDetail(detail, args...)
}

func (p *jsonParser) skip() {
	for p.at < len(p.text) && strings.IndexByte(" \t\n\r", p.text[p.at]) >= 0 {
		p.at++
	}
}

// token returns the next token without consuming it: a punctuation character or a run of word
// characters, or "" at the end.
func (p *jsonParser) token() string {
	p.skip()
	rest := p.text[p.at:]
	switch {
	case rest == "":
		return ""
	case strings.IndexByte("{}[],:", rest[0]) >= 0:
		return rest[:1]
	case rest[0] == '"':
		return rest[:quotedLength(rest)]
	}
	end := strings.IndexFunc(rest, func(r rune) bool {
		return r < utf8.RuneSelf && !(r >= '0' && r <= '9' || r|0x20 >= 'a' && r|0x20 <= 'z' || strings.ContainsRune("_+-.", r))
	})
	switch end {
	case -1:
		return rest
	case 0:
		return rest[:1]
	}
	return rest[:end]
}

// quotedLength returns the length of the string at the start of s, which may be unterminated.
func quotedLength(s string) int {
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return len(s)
}

func (p *jsonParser) unexpected(token, expected string) error {
	switch {
	case token == "":
		return badJSON("The input string ended unexpectedly.")
	case token[0] == '"' || strings.Contains("{}[],:", token) || token == "true" || token == "false" || token == "null" || isJSONNumber(token):
		if token[0] == '"' {
			if _, err := p.unquote(token); err != nil {
				return err
			}
		}
		return badJSON(expected, token)
	}
	return badJSON("Token \"%s\" is invalid.", token)
}

func (p *jsonParser) value(depth int, expected string) (*JSONNode, error) {
	p.skip()
	start := p.at
	node, err := p.element(depth, expected)
	if err == nil && !p.binary {
		node.Source = p.text[start:p.at]
	}
	return node, err
}

func (p *jsonParser) element(depth int, expected string) (*JSONNode, error) {
	if depth > maxJSONDepth {
		return nil, pgerror.New("54001", "stack depth limit exceeded")
	}
	token := p.token()
	switch {
	case token == "{":
		p.at++
		return p.object(depth)
	case token == "[":
		p.at++
		return p.array(depth)
	case strings.HasPrefix(token, `"`):
		text, err := p.unquote(token)
		p.at += len(token)
		return &JSONNode{Kind: 's', Text: text}, err
	case token == "null":
		p.at += len(token)
		return &JSONNode{Kind: 'n'}, nil
	case token == "true" || token == "false":
		p.at += len(token)
		return &JSONNode{Kind: 'b', Bool: token == "true"}, nil
	case isJSONNumber(token):
		p.at += len(token)
		node := &JSONNode{Kind: '#', Text: token}
		var err error
		if p.binary {
			node.Number, err = numeric.Parse(token)
		}
		return node, err
	}
	return nil, p.unexpected(token, expected)
}

func (p *jsonParser) array(depth int) (*JSONNode, error) {
	node := &JSONNode{Kind: 'a'}
	if p.token() == "]" {
		p.at++
		return node, nil
	}
	for {
		elem, err := p.value(depth+1, "Expected JSON value, but found \"%s\".")
		if err != nil {
			return nil, err
		}
		node.Elems = append(node.Elems, elem)
		switch token := p.token(); token {
		case "]":
			p.at++
			return node, nil
		case ",":
			p.at++
		default:
			return nil, p.unexpected(token, "Expected \",\" or \"]\", but found \"%s\".")
		}
	}
}

func (p *jsonParser) object(depth int) (*JSONNode, error) {
	node := &JSONNode{Kind: 'o'}
	expected := "Expected string or \"}\", but found \"%s\"."
	for {
		token := p.token()
		if token == "}" && len(node.Members) == 0 {
			p.at++
			return node, nil
		}
		if !strings.HasPrefix(token, `"`) {
			return nil, p.unexpected(token, expected)
		}
		key, err := p.unquote(token)
		if err != nil {
			return nil, err
		}
		p.at += len(token)
		if token = p.token(); token != ":" {
			return nil, p.unexpected(token, "Expected \":\", but found \"%s\".")
		}
		p.at++
		member, err := p.value(depth+1, "Expected JSON value, but found \"%s\".")
		if err != nil {
			return nil, err
		}
		node.Members = append(node.Members, JSONMember{key, member})
		switch token = p.token(); token {
		case "}":
			p.at++
			if p.binary {
				node.Members = orderMembers(node.Members)
			}
			return node, nil
		case ",":
			p.at++
		default:
			return nil, p.unexpected(token, "Expected \",\" or \"}\", but found \"%s\".")
		}
		expected = "Expected string, but found \"%s\"."
	}
}

// JSONObject returns an object of jsonb. The last value of a duplicate key wins.
func JSONObject(members []JSONMember) *JSONNode {
	return &JSONNode{Kind: 'o', Members: orderMembers(members)}
}

// orderMembers sorts members like jsonb, shorter keys first. The last value of a duplicate key
// wins.
func orderMembers(members []JSONMember) []JSONMember {
	slices.Reverse(members)
	slices.SortStableFunc(members, func(a, b JSONMember) int {
		if len(a.Key) != len(b.Key) {
			return len(a.Key) - len(b.Key)
		}
		return strings.Compare(a.Key, b.Key)
	})
	return slices.CompactFunc(members, func(a, b JSONMember) bool { return a.Key == b.Key })
}

func isJSONNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole := s[:len(s)-len(strings.TrimLeft(s, "0123456789"))]
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if s = s[len(whole):]; strings.HasPrefix(s, ".") {
		after := strings.TrimLeft(s[1:], "0123456789")
		if len(after) == len(s)-1 {
			return false
		}
		s = after
	}
	if s != "" && s[0]|0x20 == 'e' {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		return pgtext.AllDigits(s)
	}
	return s == ""
}

// unquote decodes a quoted string.
func (p *jsonParser) unquote(token string) (string, error) {
	if len(token) < 2 || token[len(token)-1] != '"' {
		return "", badJSON("Token \"%s\" is invalid.", token)
	}
	body := token[1 : len(token)-1]
	var b strings.Builder
	for i := 0; i < len(body); i++ {
		c := body[i]
		if c < ' ' {
			return "", badJSON("Character with value 0x%02x must be escaped.", c)
		}
		if c != '\\' {
			b.WriteByte(c)
			continue
		}
		if i++; i == len(body) {
			return "", badJSON("Token \"%s\" is invalid.", token) // the closing quote was escaped
		}
		if j := strings.IndexByte(`"\/bfnrt`, body[i]); j >= 0 {
			b.WriteByte("\"\\/\b\f\n\r\t"[j])
			continue
		}
		if body[i] != 'u' {
			_, size := utf8.DecodeRuneInString(body[i:])
			return "", badJSON("Escape sequence \"\\%s\" is invalid.", body[i:i+size])
		}
		r, size, err := p.unicode(body[i-1:])
		if err != nil {
			return "", err
		}
		b.WriteRune(r)
		i += size - 2
	}
	return b.String(), nil
}

// unicode decodes \uXXXX or a surrogate pair.
func (p *jsonParser) unicode(s string) (r rune, size int, err error) {
	const width = len(`\u0000`)
	hex := func(s string) (rune, bool) {
		if len(s) < width {
			return 0, false
		}
		v, err := strconv.ParseUint(s[2:width], 16, 16)
		return rune(v), err == nil
	}
	r, ok := hex(s)
	if !ok {
		return 0, 0, badJSON("\"\\u\" must be followed by four hexadecimal digits.")
	}
	switch {
	case !p.decode && !utf16.IsSurrogate(r):
		return r, width, nil
	case r == 0:
		return 0, 0, pgerror.New("22P05", "unsupported Unicode escape sequence").WithDetail("\\u0000 cannot be converted to text.")
	case !utf16.IsSurrogate(r):
		return r, width, nil
	case !p.decode:
		return utf8.RuneError, width, nil // json keeps the text and ignores the decoded string
	case r >= 0xDC00:
		return 0, 0, badJSON("Unicode low surrogate must follow a high surrogate.")
	}
	if strings.HasPrefix(s[width:], `\u`) {
		if low, ok := hex(s[width:]); ok && low >= 0xDC00 && low <= 0xDFFF {
			return utf16.DecodeRune(r, low), 2 * width, nil
		}
	}
	return 0, 0, badJSON("Unicode low surrogate must follow a high surrogate.")
}

// Append appends the jsonb text of a node.
func (n *JSONNode) Append(dst []byte) []byte {
	switch n.Kind {
	case 'n':
		return append(dst, "null"...)
	case 'b':
		return strconv.AppendBool(dst, n.Bool)
	case '#':
		return n.Number.Append(dst)
	case 's':
		return hstore.AppendJSONString(dst, n.Text)
	case 'a':
		dst = append(dst, '[')
		for i, e := range n.Elems {
			if i > 0 {
				dst = append(dst, ", "...)
			}
			dst = e.Append(dst)
		}
		return append(dst, ']')
	}
	dst = append(dst, '{')
	for i, m := range n.Members {
		if i > 0 {
			dst = append(dst, ", "...)
		}
		dst = append(hstore.AppendJSONString(dst, m.Key), ": "...)
		dst = m.Value.Append(dst)
	}
	return append(dst, '}')
}
