package charset

// Functions of this file return the length of a character in a multibyte encoding and whether it is
// valid, by PostgreSQL's rules. The first byte is at least 0x80.

func between(b, low, high byte) bool { return b >= low && b <= high }

// eucByte reports whether b may occur in a character of the EUC encodings.
func eucByte(b byte) bool { return between(b, 0xa1, 0xfe) }

func euc(b []byte) (int, bool) {
	return 2, len(b) >= 2 && eucByte(b[0]) && eucByte(b[1])
}

func eucJP(b []byte) (int, bool) {
	switch b[0] {
	case 0x8e: // half-width katakana
		return 2, len(b) >= 2 && between(b[1], 0xa1, 0xdf)
	case 0x8f: // JIS X 0212
		return 3, len(b) >= 3 && eucByte(b[1]) && eucByte(b[2])
	}
	return euc(b)
}

func shiftJIS(b []byte) (int, bool) {
	if between(b[0], 0xa1, 0xdf) {
		return 1, true
	}
	head := between(b[0], 0x81, 0x9f) || between(b[0], 0xe0, 0xfc)
	return 2, len(b) >= 2 && head && (between(b[1], 0x40, 0x7e) || between(b[1], 0x80, 0xfc))
}

// pair is a character of two bytes, of which the second may be anything but zero.
func pair(b []byte) (int, bool) { return 2, len(b) >= 2 && b[1] != 0 }

func gb18030(b []byte) (int, bool) {
	if len(b) >= 2 && between(b[1], '0', '9') {
		return 4, len(b) >= 4 && between(b[0], 0x81, 0xfe) && between(b[2], 0x81, 0xfe) && between(b[3], '0', '9')
	}
	return 2, len(b) >= 2 && between(b[0], 0x81, 0xfe) && (between(b[1], 0x40, 0x7e) || between(b[1], 0x80, 0xfe))
}
