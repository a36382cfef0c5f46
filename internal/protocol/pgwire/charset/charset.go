package charset

import (
	"fmt"
	"strings"
	"sync"
	"unicode/utf8"

	xtext "golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/japanese"
	"golang.org/x/text/encoding/korean"
	"golang.org/x/text/encoding/simplifiedchinese"
	"golang.org/x/text/encoding/traditionalchinese"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
)

// SQLSTATEs of invalid and of untranslatable text.
const (
	invalid        = "22021"
	untranslatable = "22P05"
)

// Encoding is a client encoding other than UTF8. It is safe for concurrent use.
type Encoding struct {
	name   string
	single *charmap.Charmap // for single-byte encodings; nil: multibyte
	multi  xtext.Encoding   // for multibyte encodings; if single is nil too, bytes pass unchanged
	// length returns the length in bytes of the character that b begins with, from its first bytes,
	// and whether the bytes form a valid character.
	length func(b []byte) (n int, ok bool)
	// exceptions are the characters for which PostgreSQL's table differs from that of x/text.
	exceptions exceptions
}

var singles = map[string]*charmap.Charmap{
	"LATIN1": charmap.ISO8859_1, "LATIN2": charmap.ISO8859_2, "LATIN3": charmap.ISO8859_3, "LATIN4": charmap.ISO8859_4,
	"LATIN5": charmap.ISO8859_9, "LATIN6": charmap.ISO8859_10, "LATIN7": charmap.ISO8859_13, "LATIN8": charmap.ISO8859_14,
	"LATIN9": charmap.ISO8859_15, "LATIN10": charmap.ISO8859_16, "ISO_8859_5": charmap.ISO8859_5, "ISO_8859_6": charmap.ISO8859_6,
	"ISO_8859_7": charmap.ISO8859_7, "ISO_8859_8": charmap.ISO8859_8, "WIN866": charmap.CodePage866, "WIN874": charmap.Windows874,
	"WIN1250": charmap.Windows1250, "WIN1251": charmap.Windows1251, "WIN1252": charmap.Windows1252, "WIN1253": charmap.Windows1253,
	"WIN1254": charmap.Windows1254, "WIN1255": charmap.Windows1255, "WIN1256": charmap.Windows1256, "WIN1257": charmap.Windows1257,
	"WIN1258": charmap.Windows1258, "KOI8R": charmap.KOI8R, "KOI8U": charmap.KOI8U,
}

var multis = map[string]struct {
	table  xtext.Encoding
	length func([]byte) (int, bool)
}{
	"EUC_JP": {japanese.EUCJP, eucJP}, "SJIS": {japanese.ShiftJIS, shiftJIS}, "EUC_KR": {korean.EUCKR, euc}, "UHC": {korean.EUCKR, pair},
	"EUC_CN": {simplifiedchinese.GBK, euc}, "GBK": {simplifiedchinese.GBK, pair}, "BIG5": {traditionalchinese.Big5, pair},
	"GB18030": {simplifiedchinese.GB18030, gb18030},
}

var made sync.Map // string -> *Encoding

// ByName returns a client encoding by its PostgreSQL name, or nil for UTF8. It returns false if
// conversion is not supported.
func ByName(name string) (*Encoding, bool) {
	if name == UTF8 || name == "UNICODE" {
		return nil, true
	}
	if e, ok := made.Load(name); ok {
		return e.(*Encoding), true
	}
	e := &Encoding{name: name}
	if table := singles[name]; table != nil {
		e.single = table
	} else if m, ok := multis[name]; ok {
		e.multi, e.length = m.table, m.length
	} else if name != "SQL_ASCII" {
		return nil, false
	}
	e.exceptions = allExceptions()[name]
	kept, _ := made.LoadOrStore(name, e)
	return kept.(*Encoding), true
}

// Name returns PostgreSQL's name of the encoding.
func (e *Encoding) Name() string { return e.name }

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf || s[i] == 0 {
			return false
		}
	}
	return true
}

// Decode converts a client text to UTF-8. If it fails, it returns the part before the error.
// Errors: 22021, 22P05.
func (e *Encoding) Decode(text string) (string, error) {
	if isASCII(text) {
		return text, nil
	}
	if e.single == nil && e.multi == nil { // SQL_ASCII: the encoding is unspecified, but the bytes must be valid UTF-8
		n, err := ValidPrefix(text)
		return text[:n], err
	}
	out := make([]byte, 0, len(text)+len(text)/2)
	for b := []byte(text); len(b) > 0; {
		n := 1
		switch {
		case b[0] == 0:
			return string(out), e.malformed(b)
		case b[0] < utf8.RuneSelf:
			out, b = append(out, b[0]), b[1:]
			continue
		case e.length != nil:
			var ok bool
			if n, ok = e.length(b); !ok {
				return string(out), e.malformed(b)
			}
		}
		r, ok := e.decodeOne(b[:n])
		if !ok {
			return string(out), noEquivalent(b[:n], e.name, UTF8)
		}
		out, b = utf8.AppendRune(out, r), b[n:]
	}
	return string(out), nil
}

// Length returns the number of characters in a text. Errors: 22021.
func (e *Encoding) Length(b []byte) (count int, err error) {
	for ; len(b) > 0; count++ {
		n, ok := 1, b[0] != 0
		if e.length != nil && b[0] >= utf8.RuneSelf {
			n, ok = e.length(b)
		}
		if !ok {
			return 0, e.malformed(b)
		}
		b = b[n:]
	}
	return count, nil
}

// decodeOne decodes the single character b.
func (e *Encoding) decodeOne(b []byte) (rune, bool) {
	if r, ok := e.exceptions.decode[code(b)]; ok {
		return r, r != 0
	}
	if e.single != nil {
		r := e.single.DecodeByte(b[0])
		return r, r != utf8.RuneError
	}
	var buf [utf8.UTFMax * 2]byte
	n, _, err := e.multi.NewDecoder().Transform(buf[:], b, true)
	r, size := utf8.DecodeRune(buf[:n])
	return r, err == nil && size == n && r != utf8.RuneError
}

// Append appends text in the client encoding to dst. Errors: 22P05.
func (e *Encoding) Append(dst []byte, text string) ([]byte, error) {
	if e.single == nil && e.multi == nil || isASCII(text) {
		return append(dst, text...), nil
	}
	for _, r := range text {
		if r < utf8.RuneSelf {
			dst = append(dst, byte(r))
			continue
		}
		var ok bool
		if dst, ok = e.appendOne(dst, r); !ok {
			return dst, noEquivalent(utf8.AppendRune(nil, r), UTF8, e.name)
		}
	}
	return dst, nil
}

func (e *Encoding) appendOne(dst []byte, r rune) ([]byte, bool) {
	if n, ok := e.exceptions.encode[r]; ok {
		return appendCode(dst, n), n != 0
	}
	if e.single != nil {
		b, ok := e.single.EncodeRune(r)
		return append(dst, b), ok
	}
	var from [utf8.UTFMax]byte
	var to [8]byte
	n, _, err := e.multi.NewEncoder().Transform(to[:], from[:utf8.EncodeRune(from[:], r)], true)
	if err != nil {
		return dst, false
	}
	if size, ok := e.length(to[:n]); !ok || size != n {
		return dst, false // the x/text table covers a larger encoding
	}
	back, ok := e.decodeOne(to[:n])
	return append(dst, to[:n]...), ok && back == r
}

// Valid returns an error if text is not valid UTF-8 or contains a zero byte, which PostgreSQL does
// not allow.
func Valid(text string) error {
	_, err := ValidPrefix(text)
	return err
}

// ValidPrefix is Valid and also returns the number of bytes before the error.
func ValidPrefix(text string) (int, error) {
	if utf8.ValidString(text) && strings.IndexByte(text, 0) < 0 {
		return len(text), nil
	}
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRuneInString(text[i:])
		if r == utf8.RuneError && n == 1 || r == 0 {
			return i, malformed(UTF8, []byte(text[i:]), sequence(text[i]))
		}
		i += n
	}
	return len(text), nil
}

// sequence returns the length of the UTF-8 sequence with the first byte b.
func sequence(b byte) int {
	switch {
	case b < 0xc0 || b >= 0xf8:
		return 1
	case b < 0xe0:
		return 2
	case b < 0xf0:
		return 3
	}
	return 4
}

func (e *Encoding) malformed(b []byte) error {
	n := 1
	if e.length != nil && b[0] != 0 {
		n, _ = e.length(b)
	}
	return malformed(e.name, b, n)
}

func malformed(name string, b []byte, n int) error {
	return pgerror.New(invalid, `invalid byte sequence for encoding "%s": %s`, name, shown(b[:min(n, len(b))]))
}

func noEquivalent(b []byte, from, to string) error {
	return pgerror.New(untranslatable, `character with byte sequence %s in encoding "%s" has no equivalent in encoding "%s"`, shown(b), from, to)
}

func shown(b []byte) (s string) {
	for i, c := range b {
		if i > 0 {
			s += " "
		}
		s += fmt.Sprintf("0x%02x", c)
	}
	return s
}
