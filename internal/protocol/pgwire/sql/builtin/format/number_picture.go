package format

import (
	"strings"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
)

// numberKeys are the patterns of number formats, longer ones first.
var numberKeys = func() []string {
	var keys []string
	for _, k := range strings.Fields("EEEE FM MI PL PR RN SG SP TH B C D G L S V E") {
		keys = append(keys, k, pgtext.LowerASCII(k))
	}
	return append(keys, ",", ".", "0", "9")
}()

// numberNode is a pattern, in upper case except for rn and th, or literal text.
type numberNode struct{ key, text string }

// numberFormat is a parsed format with its overall properties: a port of PostgreSQL's NUMDesc.
type numberFormat struct {
	nodes                        []numberNode
	pre, post, multi             int // digits before and after the point, and after V
	zeroStart, zeroEnd           int
	signBefore                   int // digits before S
	zero, fill, bracket, decimal bool
	minus, plus, sign, roman     bool
	scaled, exponent, blank      bool
	signPre, signPost            bool
	ordinal                      bool // TH
}

func errNumberFormat(text string) error { return pgerror.New(pgerror.SyntaxError, "%s", text) }

func parseNumberFormat(format string) (*numberFormat, error) {
	f := &numberFormat{}
	for format != "" {
		if key := keyAt(format, numberKeys); key != "" {
			format = format[len(key):]
			if key != "rn" && key != "th" {
				key = pgtext.UpperASCII(key)
			}
			f.nodes = append(f.nodes, numberNode{key: key})
			if err := f.note(key); err != nil {
				return nil, err
			}
			continue
		}
		var n numberNode
		n.text, format = literalText(format)
		f.nodes = append(f.nodes, n)
	}
	return f, nil
}

// note records what a pattern implies for the whole format.
func (f *numberFormat) note(key string) error {
	if f.exponent && key != "EEEE" {
		return errNumberFormat(`"EEEE" must be the last pattern used`)
	}
	switch key {
	case "9", "0":
		return f.noteDigit(key)
	case "B":
		f.blank = f.blank || f.pre == 0 && f.post == 0 && !f.zero
	case "D", ".":
		if f.decimal {
			return errNumberFormat("multiple decimal points")
		}
		if f.scaled {
			return errNumberFormat(`cannot use "V" and decimal point together`)
		}
		f.decimal = true
	case "FM":
		f.fill = true
	case "S":
		return f.noteSign()
	case "MI", "PL", "SG":
		if f.sign {
			return errNumberFormat(`cannot use "S" and "` + key + `" together`)
		}
		f.minus, f.plus = f.minus || key != "PL", f.plus || key != "MI"
	case "PR":
		if f.sign || f.plus || f.minus {
			return errNumberFormat(`cannot use "PR" and "S"/"PL"/"MI"/"SG" together`)
		}
		f.bracket = true
	case "RN", "rn":
		f.roman = true
	case "TH", "th":
		f.ordinal = true
	case "V":
		if f.decimal {
			return errNumberFormat(`cannot use "V" and decimal point together`)
		}
		f.scaled = true
	case "EEEE":
		return f.noteExponent()
	}
	return nil
}

func (f *numberFormat) noteDigit(key string) error {
	if f.bracket {
		return errNumberFormat(`"` + key + `" must be ahead of "PR"`)
	}
	if key == "0" {
		if !f.zero && !f.decimal {
			f.zero, f.zeroStart = true, f.pre+1
		}
	} else if f.scaled {
		f.multi++
		return nil
	}
	if f.decimal {
		f.post++
	} else {
		f.pre++
	}
	if key == "0" {
		f.zeroEnd = f.pre + f.post
	}
	return nil
}

func (f *numberFormat) noteSign() error {
	if f.sign {
		return errNumberFormat(`cannot use "S" twice`)
	}
	if f.plus || f.minus || f.bracket {
		return errNumberFormat(`cannot use "S" and "PL"/"MI"/"SG"/"PR" together`)
	}
	f.sign = true
	if f.decimal {
		f.signPost = true
	} else {
		f.signPre, f.signBefore = true, f.pre
	}
	return nil
}

func (f *numberFormat) noteExponent() error {
	if f.exponent {
		return errNumberFormat(`cannot use "EEEE" twice`)
	}
	if f.blank || f.fill || f.sign || f.bracket || f.minus || f.plus || f.roman || f.scaled {
		return errNumberFormat(`"EEEE" is incompatible with other formats`)
	}
	f.exponent = true
	return nil
}

// numberWriter formats the digits of a number: a port of PostgreSQL's NUM_processor.
type numberWriter struct {
	*numberFormat
	out       strings.Builder
	number    string // its digits and decimal point
	at        int    // index in number
	spaces    int    // positions of the format before the first digit
	negative  bool
	signDone  bool
	inNumber  bool
	current   int // position in the format
	count     int
	relevant  int // index in number of the last digit shown with FM; -1 none
	zeroPlace int
}

// write formats a number, given without its sign. spaces is the number of positions by which the
// format exceeds the digits.
func (f *numberFormat) write(number string, negative bool, spaces int) string {
	w := &numberWriter{numberFormat: f, number: number, negative: negative, spaces: spaces, relevant: -1, zeroPlace: max(f.zeroStart-1, 0)}
	w.prepareSign()
	w.count = f.post + f.pre - 1
	if f.fill && f.decimal {
		w.relevant = lastRelevant(number)
		if w.relevant >= 0 && f.zeroEnd > spaces {
			w.relevant = max(w.relevant, min(len(number)-1, f.zeroEnd-spaces))
		}
	}
	if !w.signDone && spaces == 0 {
		w.count++
	}
	for _, n := range f.nodes {
		w.node(n)
	}
	return w.out.String()
}

func (w *numberWriter) prepareSign() {
	if w.plus || w.minus {
		w.signDone = w.minus
		return
	}
	if !w.negative && w.fill {
		w.bracket = false
	}
	w.signDone = !w.negative && w.fill && !w.sign
	if w.signPre && w.pre == w.signBefore {
		w.signPre, w.signPost = false, true
	}
}

// lastRelevant returns the index of the last nonzero digit after the decimal point, or of the point
// itself, or -1 if there is no point.
func lastRelevant(number string) int {
	point := strings.IndexByte(number, '.')
	if point < 0 {
		return -1
	}
	return max(len(strings.TrimRight(number, "0"))-1, point)
}

func (w *numberWriter) node(n numberNode) {
	switch n.key {
	case "":
		w.out.WriteString(n.text)
	case "9", "0", ".", "D":
		w.digit(n.key)
	case ",", "G":
		if w.inNumber {
			w.out.WriteByte(',')
		} else if !w.fill {
			w.out.WriteByte(' ')
		}
	case "L":
		w.out.WriteByte(' ')
	case "TH", "th":
		if !w.roman && w.number[0] != '#' && !w.negative && !w.decimal {
			w.out.WriteString(ordinal(w.number, n.key == "TH"))
		}
	case "MI":
		w.signMark(w.negative, '-')
	case "PL":
		w.signMark(!w.negative, '+')
	case "SG":
		w.signByte()
	}
}

func (w *numberWriter) signMark(shown bool, mark byte) {
	if shown {
		w.out.WriteByte(mark)
	} else if !w.fill {
		w.out.WriteByte(' ')
	}
}

func (w *numberWriter) signByte() {
	if w.negative {
		w.out.WriteByte('-')
	} else {
		w.out.WriteByte('+')
	}
}

// bare reports whether the current digit is the 0 before the point, which 9 shows as a blank.
func (w *numberWriter) bare() bool {
	return !w.zero && w.at == 0 && w.number != "" && w.number[0] == '0' && w.post != 0
}

func (w *numberWriter) relevantPoint() bool { return w.relevant >= 0 && w.number[w.relevant] == '.' }

func (w *numberWriter) digit(key string) {
	w.inNumber = false
	if !w.signDone && (w.current >= w.spaces || w.zero && w.zeroPlace == w.current) && (!w.bare() || w.relevantPoint()) {
		w.writeSign()
	}
	switch {
	case w.current < w.spaces && (w.zeroPlace > w.current || !w.zero):
		if !w.fill {
			w.out.WriteByte(' ')
		}
	case w.zero && w.current < w.spaces:
		w.out.WriteByte('0')
		w.inNumber = true
	default:
		w.realDigit(key)
	}
	w.endSign()
	w.current++
}

func (w *numberWriter) writeSign() {
	switch {
	case w.sign:
		if w.signPre {
			w.signByte()
			w.signDone = true
		}
		return
	case w.bracket:
		w.out.WriteByte(map[bool]byte{true: '<', false: ' '}[w.negative])
	case w.negative:
		w.out.WriteByte('-')
	case !w.fill:
		w.out.WriteByte(' ')
	}
	w.signDone = true
}

func (w *numberWriter) realDigit(key string) {
	if w.at >= len(w.number) {
		return
	}
	switch {
	case w.number[w.at] == '.':
		w.out.WriteByte('.')
	case w.relevant >= 0 && w.at > w.relevant && key != "0":
	case w.bare():
		if !w.fill {
			w.out.WriteByte(' ')
		} else if w.relevantPoint() {
			w.out.WriteByte('0')
		}
	default:
		w.out.WriteByte(w.number[w.at])
		w.inNumber = true
	}
	w.at++
}

// endSign writes what follows the last digit.
func (w *numberWriter) endSign() {
	end := w.count
	if w.spaces > 0 {
		end++
	}
	if w.decimal {
		end++
	}
	if w.relevant >= 0 && w.relevant == w.at {
		end = w.current
	}
	if w.current+1 != end {
		return
	}
	switch {
	case w.signDone && w.bracket:
		w.out.WriteByte(map[bool]byte{true: '>', false: ' '}[w.negative])
	case w.signPost:
		w.signByte()
	}
}
