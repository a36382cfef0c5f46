package value

import (
	"slices"
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// MaxDims is the maximum number of dimensions of an array.
const MaxDims = 6

// NewArray returns a one-dimensional array with the lower bound 1, or an empty array if there are
// no elements.
func NewArray(elem *Type, elems []Datum) *Array {
	a := &Array{Elem: elem, Elems: elems}
	if len(elems) > 0 {
		a.Dims = []Dim{{Len: int32(len(elems)), Lower: 1}}
	}
	return a
}

// TextArray returns an array of text.
func TextArray(texts []string) *Array {
	elems := make([]Datum, len(texts))
	for i, s := range texts {
		elems[i] = s
	}
	return NewArray(Text, elems)
}

func malformedArray(s, detail string, args ...any) error {
	return pgerror.New(pgerror.InvalidText, "malformed array literal: \"%s\"", s).WithDetail(detail, args...)
}

// arrayParser parses the text format of an array.
type arrayParser struct {
	text  string
	at    int
	shown int // start of the braces; errors show the text from there
	elem  *Type
	set   *Settings
	dims  []Dim // as far as known: Len is that of the first sub-array of each depth, -1 before its end
	words []arrayWord
}

// arrayWord is an unparsed element: the structure of the array is checked first.
type arrayWord struct {
	text   string
	quoted bool
}

func parseArray(elem *Type, s string, set *Settings) (Datum, error) {
	p := arrayParser{text: s, elem: elem, set: set}
	bounds, err := p.bounds()
	if err != nil {
		return nil, err
	}
	if p.skip(); p.peek() != '{' {
		if bounds != nil {
			return nil, malformedArray(s, "Array contents must start with \"{\".")
		}
		return nil, malformedArray(s, "Array value must start with \"{\" or dimension information.")
	}
	p.shown = p.at
	if err := p.level(0); err != nil {
		return nil, err
	}
	if p.skip(); p.at < len(s) {
		return nil, malformedArray(s[p.shown:], "Junk after closing right brace.")
	}
	a := &Array{Elem: elem, Dims: p.dims}
	if len(p.words) == 0 {
		a.Dims = nil
	}
	if bounds != nil {
		if !slices.EqualFunc(bounds, a.Dims, func(x, y Dim) bool { return x.Len == y.Len }) {
			return nil, malformedArray(s, "Specified array dimensions do not match array contents.")
		}
		a.Dims = bounds
	}
	if err := p.elements(a); err != nil {
		return nil, err
	}
	return a, nil
}

// elements parses the words as elements.
func (p *arrayParser) elements(a *Array) (err error) {
	a.Elems = make([]Datum, len(p.words))
	for i, w := range p.words {
		if !w.quoted && strings.EqualFold(w.text, "null") {
			continue
		}
		if a.Elems[i], err = Parse(p.elem, w.text, p.set); err != nil {
			return err
		}
	}
	return nil
}

func (p *arrayParser) skip() {
	for p.at < len(p.text) && strings.IndexByte(pgtext.Spaces, p.text[p.at]) >= 0 {
		p.at++
	}
}

// peek returns the current character, or 0 at the end.
func (p *arrayParser) peek() byte {
	if p.at < len(p.text) {
		return p.text[p.at]
	}
	return 0
}

// bounds parses [1:2][0:3]= before the braces. It returns nil if there are none.
func (p *arrayParser) bounds() ([]Dim, error) {
	var dims []Dim
	for {
		if p.skip(); p.peek() != '[' {
			break
		}
		p.at++
		if len(dims) == MaxDims {
			return nil, TooManyDims(len(dims) + 1)
		}
		inside, rest, ok := strings.Cut(p.text[p.at:], "]")
		lower, upper, both := strings.Cut(inside, ":")
		if !both {
			lower, upper = "1", inside
		}
		low, errLow := parseInt(Int4, lower)
		high, errHigh := parseInt(Int4, upper)
		if !ok || errLow != nil || errHigh != nil {
			return nil, malformedArray(p.text, "\"[\" must introduce explicitly-specified array dimensions.")
		}
		if high < low {
			return nil, pgerror.New("2202E", "upper bound cannot be less than lower bound")
		}
		dims = append(dims, Dim{Len: int32(high - low + 1), Lower: int32(low)})
		p.at = len(p.text) - len(rest)
	}
	if dims == nil {
		return nil, nil
	}
	if p.peek() != '=' {
		return nil, malformedArray(p.text, "Missing \"=\" after array dimensions.")
	}
	p.at++
	return dims, nil
}

// TooManyDims is the error for an array of n dimensions.
func TooManyDims(n int) error {
	return pgerror.New(pgerror.ProgramLimitExceeded, "number of array dimensions (%d) exceeds the maximum allowed (%d)", n, MaxDims)
}

func (p *arrayParser) errMatch() error {
	return malformedArray(p.text[p.shown:], "Multidimensional arrays must have sub-arrays with matching dimensions.")
}

func (p *arrayParser) errEnd() error {
	return malformedArray(p.text[p.shown:], "Unexpected end of input.")
}

// level parses one pair of braces and its contents.
func (p *arrayParser) level(depth int) error {
	if depth == MaxDims {
		return TooManyDims(depth + 1)
	}
	if depth == len(p.dims) {
		if len(p.words) > 0 {
			return p.errMatch() // elements of this depth came before
		}
		p.dims = append(p.dims, Dim{Len: -1, Lower: 1})
	}
	p.at++ // skip the brace
	count, empty := int32(0), false
	for {
		p.skip()
		switch c := p.peek(); {
		case p.at >= len(p.text):
			return p.errEnd()
		case c == '}' && count == 0 && depth == 0:
			empty = true
		case c == '}' || c == ',':
			return malformedArray(p.text[p.shown:], "Unexpected \"%c\" character.", c)
		case c == '{':
			if err := p.level(depth + 1); err != nil {
				return err
			}
			count++
		default:
			if depth != len(p.dims)-1 {
				return p.errMatch()
			}
			if err := p.element(); err != nil {
				return err
			}
			count++
		}
		if p.skip(); p.at >= len(p.text) {
			return p.errEnd()
		}
		c := p.peek()
		p.at++
		switch {
		case c == '}' && (empty || count > 0):
			return p.closed(depth, count)
		case c != ',':
			return malformedArray(p.text[p.shown:], "Unexpected array element.")
		}
	}
}

// closed checks that all sub-arrays of a depth have the same length.
func (p *arrayParser) closed(depth int, count int32) error {
	d := &p.dims[depth]
	if d.Len < 0 {
		d.Len = count
	}
	if d.Len != count {
		return p.errMatch()
	}
	return nil
}

// element parses one element, quoted or not.
func (p *arrayParser) element() error {
	text, quoted, err := p.word()
	p.words = append(p.words, arrayWord{text, quoted})
	return err
}

func (p *arrayParser) word() (text string, quoted bool, err error) {
	var b strings.Builder
	if p.peek() == '"' {
		p.at++
		for ; p.at < len(p.text); p.at++ {
			switch c := p.text[p.at]; c {
			case '"':
				p.at++
				return b.String(), true, nil
			case '\\':
				if p.at++; p.at == len(p.text) {
					return "", false, p.errEnd()
				}
				b.WriteByte(p.text[p.at])
			default:
				b.WriteByte(c)
			}
		}
		return "", false, p.errEnd()
	}
	end := 0 // of the significant part: unescaped blanks before the next comma are dropped
	for ; p.at < len(p.text); p.at++ {
		switch c := p.text[p.at]; {
		case c == ',' || c == '}':
			return b.String()[:end], quoted, nil
		case c == '"':
			return "", false, malformedArray(p.text[p.shown:], "Unexpected array element.")
		case c == '{':
			return "", false, malformedArray(p.text[p.shown:], "Unexpected \"{\" character.")
		case c == '\\':
			if p.at++; p.at == len(p.text) {
				return "", false, p.errEnd()
			}
			b.WriteByte(p.text[p.at])
			end, quoted = b.Len(), true
		default:
			b.WriteByte(c)
			if strings.IndexByte(pgtext.Spaces, c) < 0 {
				end = b.Len()
			}
		}
	}
	return "", false, p.errEnd()
}

func appendArray(dst []byte, a *Array, set *Settings) []byte {
	if len(a.Elems) == 0 {
		return append(dst, "{}"...)
	}
	shifted := false
	for _, d := range a.Dims {
		shifted = shifted || d.Lower != 1
	}
	if shifted {
		for _, d := range a.Dims {
			dst = append(dst, '[')
			dst = append(appendInt(dst, int64(d.Lower)), ':')
			dst = append(appendInt(dst, int64(d.Lower)+int64(d.Len)-1), ']')
		}
		dst = append(dst, '=')
	}
	dst, _ = appendLevel(dst, a, 0, a.Elems, set)
	return dst
}

// appendLevel writes the elements of one depth and returns the remaining elements.
func appendLevel(dst []byte, a *Array, depth int, elems []Datum, set *Settings) ([]byte, []Datum) {
	dst = append(dst, '{')
	for i := range a.Dims[depth].Len {
		if i > 0 {
			dst = append(dst, ',')
		}
		if depth < len(a.Dims)-1 {
			dst, elems = appendLevel(dst, a, depth+1, elems, set)
			continue
		}
		dst = appendElement(dst, a.Elem, elems[0], set)
		elems = elems[1:]
	}
	return append(dst, '}'), elems
}

func appendElement(dst []byte, t *Type, d Datum, set *Settings) []byte {
	if d == nil {
		return append(dst, "NULL"...)
	}
	text := String(t, d, set)
	if text != "" && !strings.EqualFold(text, "null") && !strings.ContainsAny(text, `"\{},`+pgtext.Spaces) {
		return append(dst, text...)
	}
	dst = append(dst, '"')
	for i := range len(text) {
		if text[i] == '"' || text[i] == '\\' {
			dst = append(dst, '\\')
		}
		dst = append(dst, text[i])
	}
	return append(dst, '"')
}
