package oracle

import (
	"fmt"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/core/message"
)

// field is one word of a script's line: name=value, or name alone, which is true.
type field struct {
	name  string
	value any // typed as in a message.Table
}

// fields reads words separated by spaces, up to the end or a closing brace, and returns the rest.
func fields(s string) (fs []field, rest string, err error) {
	for {
		s = strings.TrimLeft(s, " ")
		if s == "" || s[0] == '}' {
			return fs, s, nil
		}
		n := strings.IndexAny(s, " =}")
		if n < 0 {
			n = len(s)
		}
		f := field{name: s[:n], value: true}
		if s = s[n:]; strings.HasPrefix(s, "=") {
			if f.value, s, err = value(s[1:]); err != nil {
				return nil, "", err
			}
		}
		fs = append(fs, f)
	}
}

// value reads one value: "quoted", {table}, [array], word, 5, l:5 with the letter of a type, true,
// false, void.
func value(s string) (v any, rest string, err error) {
	switch {
	case strings.HasPrefix(s, `"`):
		quoted, err := strconv.QuotedPrefix(s)
		if err != nil {
			return nil, "", fmt.Errorf("%w: %s", err, s)
		}
		text, err := strconv.Unquote(quoted)
		return text, s[len(quoted):], err
	case strings.HasPrefix(s, "{"):
		fs, rest, err := fields(s[1:])
		if err != nil || rest == "" {
			return nil, "", fmt.Errorf("a table without an end: %s (%v)", s, err)
		}
		return tableOf(fs), rest[1:], nil
	case strings.HasPrefix(s, "["):
		a := message.Array{}
		for s = s[1:]; !strings.HasPrefix(s, "]"); s = strings.TrimPrefix(s, ",") {
			if v, s, err = value(s); err != nil {
				return nil, "", err
			}
			if s == "" {
				return nil, "", fmt.Errorf("an array without an end")
			}
			a = append(a, v)
		}
		return a, s[1:], nil
	}
	n := strings.IndexAny(s, " ,}]")
	if n < 0 {
		n = len(s)
	}
	v, err = scalar(s[:n])
	return v, s[n:], err
}

func tableOf(fs []field) message.Table {
	t := message.Table{}
	for _, f := range fs {
		t = append(t, message.Field{Name: f.name, Value: f.value})
	}
	return t
}

func scalar(word string) (any, error) {
	switch word {
	case "true", "false":
		return word == "true", nil
	case "void":
		return nil, nil
	}
	letter, rest, typed := strings.Cut(word, ":")
	if !typed || len(letter) != 1 {
		if n, err := strconv.ParseInt(word, 10, 32); err == nil {
			return int32(n), nil
		}
		return word, nil
	}
	switch letter {
	case "S":
		return rest, nil
	case "x":
		return message.Bytes(rest), nil
	case "d", "f":
		x, err := strconv.ParseFloat(rest, 64)
		if letter == "f" {
			return float32(x), err
		}
		return x, err
	}
	n, err := strconv.ParseInt(rest, 10, 64)
	if err != nil {
		return nil, err
	}
	switch letter {
	case "b":
		return int8(n), nil
	case "B":
		return uint8(n), nil
	case "s":
		return int16(n), nil
	case "u":
		return uint16(n), nil
	case "I":
		return int32(n), nil
	case "i":
		return uint32(n), nil
	case "l":
		return n, nil
	case "L":
		return message.LongLong(n), nil
	case "T":
		return message.Timestamp(n), nil
	case "D":
		return message.Decimal{Scale: 2, Value: uint32(n)}, nil
	}
	return nil, fmt.Errorf("no type has the letter %s", letter)
}

var wordEdge = regexp.MustCompile(`([a-z])([A-Z])`)

// wireName converts a Go field's name to that used in scripts: IfUnused to if-unused.
func wireName(goName string) string {
	return strings.ToLower(wordEdge.ReplaceAllString(goName, "$1-$2"))
}

// set sets a field of a struct to a value from a script.
func set(target reflect.Value, f field) error {
	for i := range target.NumField() {
		if wireName(target.Type().Field(i).Name) != f.name {
			continue
		}
		to, from := target.Field(i), reflect.ValueOf(f.value)
		switch {
		case f.value == nil:
			return fmt.Errorf("%s cannot be void", f.name)
		case to.Kind() == reflect.Slice && from.Kind() == reflect.String && to.Type().Elem().Kind() == reflect.Uint8:
			to.SetBytes([]byte(from.String()))
		case to.Kind() == reflect.String && from.Kind() != reflect.String:
			to.SetString(fmt.Sprint(f.value)) // a word that looks like a number
		case from.CanConvert(to.Type()):
			to.Set(from.Convert(to.Type()))
		default:
			return fmt.Errorf("%s cannot be %v", f.name, f.value)
		}
		return nil
	}
	return fmt.Errorf("%v has no field %s", target.Type(), f.name)
}

// show formats a value in the notation of scripts, with its type.
func show(v any) string {
	switch v := v.(type) {
	case nil:
		return "void"
	case string:
		return strconv.Quote(v)
	case []byte:
		return strconv.Quote(string(v))
	case message.Bytes:
		return "x:" + strconv.Quote(string(v))
	case message.Table:
		words := make([]string, len(v))
		for i, f := range v {
			words[i] = f.Name + "=" + show(f.Value)
		}
		return "{" + strings.Join(words, " ") + "}"
	case message.Array:
		words := make([]string, len(v))
		for i, x := range v {
			words[i] = show(x)
		}
		return "[" + strings.Join(words, ",") + "]"
	case message.Timestamp:
		if age := time.Since(time.Unix(int64(v), 0)); -time.Minute < age && age < time.Hour {
			return "T:now"
		}
		return fmt.Sprintf("T:%d", v)
	case message.Decimal:
		return fmt.Sprintf("D:%d", v.Value)
	}
	letter := map[reflect.Type]string{
		reflect.TypeFor[int8](): "b:", reflect.TypeFor[uint8](): "B:", reflect.TypeFor[int16](): "s:", reflect.TypeFor[uint16](): "u:",
		reflect.TypeFor[uint32](): "i:", reflect.TypeFor[int64](): "l:", reflect.TypeFor[message.LongLong](): "L:",
		reflect.TypeFor[float32](): "f:", reflect.TypeFor[float64](): "d:",
	}[reflect.TypeOf(v)]
	return letter + fmt.Sprint(v)
}

// showFields formats the fields of a struct that are not empty.
func showFields(v reflect.Value, skip ...string) string {
	var s strings.Builder
	for i := range v.NumField() {
		name := wireName(v.Type().Field(i).Name)
		f := v.Field(i)
		if f.IsZero() && f.Kind() == reflect.Bool {
			continue
		}
		skipped := false
		for _, k := range skip {
			skipped = skipped || k == name
		}
		switch {
		case skipped:
		case f.CanUint():
			fmt.Fprintf(&s, " %s=%d", name, f.Uint())
		case f.Kind() == reflect.Bool:
			s.WriteString(" " + name)
		default:
			fmt.Fprintf(&s, " %s=%s", name, show(f.Interface()))
		}
	}
	return s.String()
}
