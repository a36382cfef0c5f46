package charset

import "strings"

// UTF8 and UTF8Number are the name and the number of the server encoding.
const (
	UTF8       = "UTF8"
	UTF8Number = 6
)

// known is an encoding of PostgreSQL 15. Its index in the list is its number.
type known struct {
	name    string
	longest int // maximum bytes of a character
}

var list = []known{
	{"SQL_ASCII", 1}, {"EUC_JP", 3}, {"EUC_CN", 3}, {"EUC_KR", 3}, {"EUC_TW", 4}, {"EUC_JIS_2004", 3}, {UTF8, 4}, {"MULE_INTERNAL", 4},
	{"LATIN1", 1}, {"LATIN2", 1}, {"LATIN3", 1}, {"LATIN4", 1}, {"LATIN5", 1}, {"LATIN6", 1}, {"LATIN7", 1}, {"LATIN8", 1}, {"LATIN9", 1},
	{"LATIN10", 1}, {"WIN1256", 1}, {"WIN1258", 1}, {"WIN866", 1}, {"WIN874", 1}, {"KOI8R", 1}, {"WIN1251", 1}, {"WIN1252", 1},
	{"ISO_8859_5", 1}, {"ISO_8859_6", 1}, {"ISO_8859_7", 1}, {"ISO_8859_8", 1}, {"WIN1250", 1}, {"WIN1253", 1}, {"WIN1254", 1},
	{"WIN1255", 1}, {"WIN1257", 1}, {"KOI8U", 1}, {"SJIS", 2}, {"BIG5", 2}, {"GBK", 2}, {"UHC", 2}, {"GB18030", 4}, {"JOHAB", 3},
	{"SHIFT_JIS_2004", 2},
}

// aliases are PostgreSQL's alternative names of encodings.
var aliases = map[string]string{
	"abc": "WIN1258", "alt": "WIN866", "iso88591": "LATIN1", "iso885910": "LATIN6", "iso885913": "LATIN7", "iso885914": "LATIN8",
	"iso885915": "LATIN9", "iso885916": "LATIN10", "iso88592": "LATIN2", "iso88593": "LATIN3", "iso88594": "LATIN4", "iso88599": "LATIN5",
	"koi8": "KOI8R", "mskanji": "SJIS", "shiftjis": "SJIS", "tcvn": "WIN1258", "tcvn5712": "WIN1258", "unicode": UTF8, "vscii": "WIN1258",
	"win": "WIN1251", "win932": "SJIS", "win936": "GBK", "win949": "UHC", "win950": "BIG5", "windows1250": "WIN1250",
	"windows1251": "WIN1251", "windows1252": "WIN1252", "windows1253": "WIN1253", "windows1254": "WIN1254", "windows1255": "WIN1255",
	"windows1256": "WIN1256", "windows1257": "WIN1257", "windows1258": "WIN1258", "windows866": "WIN866", "windows874": "WIN874",
	"windows932": "SJIS", "windows936": "GBK", "windows949": "UHC", "windows950": "BIG5",
}

// byName maps names normalized by fold to encoding numbers.
var byName = func() map[string]int {
	all := map[string]int{}
	for i, k := range list {
		all[fold(k.name)] = i
	}
	for alias, name := range aliases {
		all[alias] = all[fold(name)]
	}
	return all
}()

const longestName = 63

// fold normalizes a name to its lower-case letters and digits. It drops everything else, also
// quotes.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return -1
	}, name)
}

// Number returns PostgreSQL's number of the encoding with the given name or alias, or -1 if there
// is none.
func Number(name string) int {
	if name == "" || len(name) > longestName {
		return -1
	}
	if n, ok := byName[fold(name)]; ok {
		return n
	}
	return -1
}

// Name returns PostgreSQL's name of the encoding with the given number, or "" if there is none.
func Name(number int64) string {
	if number < 0 || number >= int64(len(list)) {
		return ""
	}
	return list[number].name
}

// Longest returns the maximum number of bytes of a character in the encoding with the given number,
// or 0 if there is none.
func Longest(number int64) int {
	if Name(number) == "" {
		return 0
	}
	return list[number].longest
}
