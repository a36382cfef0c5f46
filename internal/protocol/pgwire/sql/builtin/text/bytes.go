package text

import (
	"bytes"
	"crypto/md5"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"

	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/pgtext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// #nosec G501 -- SQL's md5()

func bytes1(f func(b []byte) value.Datum) expr.CallFunc {
	return func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return f(a[0].([]byte)), nil }
}

func bytesSubstr(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	from, to, err := span(a)
	if err != nil {
		return nil, err
	}
	b := a[0].([]byte)
	if to >= 0 {
		b = b[:min(to, int64(len(b)))]
	}
	return b[min(from, int64(len(b))):], nil
}

func md5Of(b []byte) value.Datum {
	sum := md5.Sum(b) // #nosec G401 -- SQL's md5()
	return hex.EncodeToString(sum[:])
}

// base64Line is the line length of encode() in characters.
const base64Line = 76

func encode(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	b := a[0].([]byte)
	switch name := a[1].(string); pgtext.LowerASCII(name) {
	case "hex":
		return hex.EncodeToString(b), nil
	case "base64":
		text := base64.StdEncoding.EncodeToString(b)
		var lines []string
		for len(text) > base64Line {
			lines, text = append(lines, text[:base64Line]), text[base64Line:]
		}
		return strings.Join(append(lines, text), "\n"), nil
	case "escape":
		var out strings.Builder
		for _, c := range b {
			switch {
			case c == 0 || c >= utf8.RuneSelf:
				fmt.Fprintf(&out, `\%03o`, c)
			case c == '\\':
				out.WriteString(`\\`)
			default:
				out.WriteByte(c)
			}
		}
		return out.String(), nil
	default:
		return nil, errEncoding(name)
	}
}

func errEncoding(name string) error {
	return pgerror.New(pgerror.InvalidParameterValue, "unrecognized encoding: \"%s\"", name)
}

func decode(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	text := a[0].(string)
	switch name := a[1].(string); pgtext.LowerASCII(name) {
	case "hex":
		return decodeHex(text)
	case "base64":
		return decodeBase64(text)
	case "escape":
		return decodeEscape(text)
	default:
		return nil, errEncoding(name)
	}
}

func isBlank(c byte) bool { return c == ' ' || c == '\n' || c == '\t' || c == '\r' }

func decodeHex(text string) (value.Datum, error) {
	var digits []byte
	for i := 0; i < len(text); i++ {
		c := text[i]
		if len(digits)%2 == 0 && isBlank(c) {
			continue
		}
		if !strings.Contains("0123456789abcdefABCDEF", string(c)) {
			_, size := utf8.DecodeRuneInString(text[i:])
			return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid hexadecimal digit: \"%s\"", text[i:i+size])
		}
		digits = append(digits, c)
	}
	if len(digits)%2 == 1 {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid hexadecimal data: odd number of digits")
	}
	return value.Result(hex.DecodeString(string(digits)))
}

func decodeBase64(text string) (value.Datum, error) {
	var kept []byte
	end := 0
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case isBlank(c):
			continue
		case c == '=':
			end++
		case pgtext.IsAlnumASCII(c) || c == '+' || c == '/':
			if end > 0 {
				return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid base64 end sequence").
					WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
			}
		default:
			_, size := utf8.DecodeRuneInString(text[i:])
			return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid symbol \"%s\" found while decoding base64 sequence", text[i:i+size])
		}
		kept = append(kept, c)
	}
	b, err := base64.StdEncoding.DecodeString(string(kept))
	if err != nil {
		return nil, pgerror.New(pgerror.InvalidParameterValue, "invalid base64 end sequence").
			WithHint("Input data is missing padding, is truncated, or is otherwise corrupted.")
	}
	return b, nil
}

func decodeEscape(text string) (value.Datum, error) {
	b := []byte{}
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c != '\\':
			b = append(b, c)
		case strings.HasPrefix(text[i:], `\\`):
			b = append(b, '\\')
			i++
		case i+3 < len(text) && text[i+1] >= '0' && text[i+1] <= '3' && isOctal(text[i+2]) && isOctal(text[i+3]):
			b = append(b, (text[i+1]-'0')<<6|(text[i+2]-'0')<<3|(text[i+3]-'0'))
			i += 3
		default:
			return nil, pgerror.New(pgerror.InvalidText, "invalid input syntax for type bytea")
		}
	}
	return b, nil
}

func isOctal(c byte) bool { return c >= '0' && c <= '7' }

func errByteIndex(i, n int64) error {
	return pgerror.New("2202E", "index %d out of valid range, 0..%d", i, n)
}

func getByte(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	b, i := a[0].([]byte), a[1].(int64)
	if i < 0 || i >= int64(len(b)) {
		return nil, errByteIndex(i, int64(len(b))-1)
	}
	return int64(b[i]), nil
}

func getBit(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	b, i := a[0].([]byte), a[1].(int64)
	if i < 0 || i >= 8*int64(len(b)) {
		return nil, errByteIndex(i, 8*int64(len(b))-1)
	}
	return int64(b[i/8] >> (i % 8) & 1), nil
}

func setByte(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	b, i := bytes.Clone(a[0].([]byte)), a[1].(int64)
	if i < 0 || i >= int64(len(b)) {
		return nil, errByteIndex(i, int64(len(b))-1)
	}
	b[i] = byte(a[2].(int64))
	return b, nil
}

func setBit(_ *expr.Env, a []value.Datum) (value.Datum, error) {
	b, i, bit := bytes.Clone(a[0].([]byte)), a[1].(int64), a[2].(int64)
	switch {
	case i < 0 || i >= 8*int64(len(b)):
		return nil, errByteIndex(i, 8*int64(len(b))-1)
	case bit != 0 && bit != 1:
		return nil, pgerror.New(pgerror.InvalidParameterValue, "new bit must be 0 or 1")
	}
	b[i/8] = b[i/8]&^(1<<(i%8)) | byte(bit<<(i%8))
	return b, nil
}

func addBytesFunctions(to expr.Table) {
	to.Calls(map[string]expr.CallFunc{
		"byteacat": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return append(bytes.Clone(a[0].([]byte)), a[1].([]byte)...), nil
		},
		"byteaoctetlen":     bytes1(func(b []byte) value.Datum { return int64(len(b)) }),
		"bit_length(bytea)": bytes1(func(b []byte) value.Datum { return int64(8 * len(b)) }),
		"bytea_substr":      bytesSubstr, "bytea_substr_no_len": bytesSubstr,
		"byteapos": func(_ *expr.Env, a []value.Datum) (value.Datum, error) {
			return int64(bytes.Index(a[0].([]byte), a[1].([]byte)) + 1), nil
		},
		"md5_bytea": bytes1(md5Of), "md5_text": func(_ *expr.Env, a []value.Datum) (value.Datum, error) { return md5Of([]byte(a[0].(string))), nil },
		"sha224_bytea":  bytes1(func(b []byte) value.Datum { s := sha256.Sum224(b); return s[:] }),
		"sha256_bytea":  bytes1(func(b []byte) value.Datum { s := sha256.Sum256(b); return s[:] }),
		"sha384_bytea":  bytes1(func(b []byte) value.Datum { s := sha512.Sum384(b); return s[:] }),
		"sha512_bytea":  bytes1(func(b []byte) value.Datum { s := sha512.Sum512(b); return s[:] }),
		"binary_encode": encode, "binary_decode": decode,
		"byteaGetByte": getByte, "byteaGetBit": getBit, "byteaSetByte": setByte, "byteaSetBit": setBit,
	})
}
