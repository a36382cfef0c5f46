package respwire

import "bytes"

// inline parses an inline command: words on a single line.
func (p *Parser) inline(b []byte, dst [][]byte) ([][]byte, int, error) {
	end := bytes.IndexByte(b, '\n')
	if end < 0 {
		if len(b) > maxLine {
			return dst, 0, ProtocolError("too big inline request")
		}
		return dst, 0, nil
	}
	args, ok := splitWords(b[:end], dst)
	if !ok {
		return dst, 0, ProtocolError("unbalanced quotes in request")
	}
	return args, end + 1, nil
}

// splitWords appends the words of a line. A word may be quoted. In double quotes, \n, \r, \t, \b,
// \a and \xHH each stand for one byte; in single quotes only \' does. ok is false if a quote is not
// closed, or not followed by a blank.
func splitWords(line []byte, dst [][]byte) (words [][]byte, ok bool) {
	if end := bytes.IndexByte(line, 0); end >= 0 {
		line = line[:end]
	}
	for {
		for len(line) > 0 && isBlank(line[0]) {
			line = line[1:]
		}
		if len(line) == 0 {
			return dst, true
		}
		word, rest, ok := firstWord(line)
		if !ok {
			return nil, false
		}
		dst = append(dst, word)
		line = rest
	}
}

// firstWord returns the word at the beginning of a line.
func firstWord(line []byte) (word, rest []byte, ok bool) {
	plain := 0
	for plain < len(line) && !isBlank(line[plain]) && line[plain] != '"' && line[plain] != '\'' {
		plain++
	}
	if plain == len(line) || isBlank(line[plain]) {
		return line[:plain:plain], line[plain:], true
	}
	word, rest = append([]byte{}, line[:plain]...), line[plain:]
	for len(rest) > 0 && !isBlank(rest[0]) {
		switch c := rest[0]; c {
		case '"', '\'':
			word, rest, ok = unquote(word, rest[1:], c)
			return word, rest, ok && (len(rest) == 0 || isBlank(rest[0]))
		default:
			word, rest = append(word, c), rest[1:]
		}
	}
	return word, rest, true
}

// unquote appends the text before the closing quote. ok is false if there is no closing quote.
func unquote(word, rest []byte, quote byte) ([]byte, []byte, bool) {
	for len(rest) > 0 {
		c := rest[0]
		switch {
		case c == quote:
			return word, rest[1:], true
		case c == '\\' && quote == '"' && len(rest) >= 4 && rest[1] == 'x' && isHex(rest[2]) && isHex(rest[3]):
			word, rest = append(word, hex(rest[2])<<4|hex(rest[3])), rest[4:]
		case c == '\\' && quote == '"' && len(rest) >= 2:
			word, rest = append(word, escaped(rest[1])), rest[2:]
		case c == '\\' && quote == '\'' && len(rest) >= 2 && rest[1] == '\'':
			word, rest = append(word, '\''), rest[2:]
		default:
			word, rest = append(word, c), rest[1:]
		}
	}
	return word, nil, false
}

// escaped returns the byte that a backslash followed by c stands for.
func escaped(c byte) byte {
	switch c {
	case 'n':
		return '\n'
	case 'r':
		return '\r'
	case 't':
		return '\t'
	case 'b':
		return '\b'
	case 'a':
		return '\a'
	}
	return c
}

func isBlank(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isHex(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' }

func hex(c byte) byte {
	switch {
	case c <= '9':
		return c - '0'
	case c >= 'a':
		return c - 'a' + 10
	}
	return c - 'A' + 10
}
