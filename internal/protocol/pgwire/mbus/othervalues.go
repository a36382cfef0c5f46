package mbus

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"time"

	"fiveways.dev/fiveways/internal/core/hstore"
	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus/localtime"
)

// otherValues returns the properties of a message that has headers other than texts.
func otherValues(table []byte, zone *time.Location) hstore.Map {
	decoded, err := message.DecodeTable(table)
	if err != nil {
		return nil
	}
	m := make(hstore.Map, 0, len(decoded))
	for _, f := range decoded {
		_, isTable := f.Value.(message.Table)
		_, isText := f.Value.(string)
		if isTable && f.Name == keptHeader || isText && f.Name == afterHeader {
			continue
		}
		p := hstore.Pair{Key: text([]byte(f.Name)), Null: f.Value == nil}
		if !p.Null {
			p.Value = sqlText(f.Value, zone)
		}
		m = append(m, p)
	}
	return m
}

// sqlText returns the text of a header value: numbers, booleans and times in SQL syntax, tables and
// arrays as JSON.
func sqlText(v any, zone *time.Location) string {
	switch v := v.(type) {
	case string:
		return text([]byte(v))
	case message.Bytes:
		return text(v)
	case bool:
		return strconv.FormatBool(v)
	case float32:
		return floatText(float64(v), 32)
	case float64:
		return floatText(v, 64)
	case message.Decimal:
		return v.Text()
	case message.Timestamp:
		return string(localtime.Append(nil, localtime.OfUnix(int64(min(uint64(v), 1<<40)), zone)))
	case message.Table, message.Array:
		b, err := json.Marshal(jsonValue(v, zone))
		if err != nil {
			return ""
		}
		return string(b)
	}
	n, _ := message.Int(v)
	return strconv.FormatInt(n, 10)
}

func floatText(f float64, bits int) string {
	switch {
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'g', -1, bits)
}

// jsonValue converts a table value for encoding/json.
func jsonValue(v any, zone *time.Location) any {
	switch v := v.(type) {
	case nil, bool:
		return v
	case message.Table:
		m := make(map[string]any, len(v))
		for _, f := range v {
			if _, ok := m[f.Name]; !ok {
				m[f.Name] = jsonValue(f.Value, zone)
			}
		}
		return m
	case message.Array:
		all := make([]any, len(v))
		for i := range v {
			all[i] = jsonValue(v[i], zone)
		}
		return all
	case message.Bytes:
		if wellFormed(v) {
			return string(v)
		}
		return base64.StdEncoding.EncodeToString(v)
	case float32, float64, message.Decimal:
		s := sqlText(v, zone)
		if _, err := strconv.ParseFloat(s, 64); err != nil || strings.ContainsAny(s, "IN") {
			return s // not representable as a JSON number
		}
		return json.Number(s)
	}
	if n, ok := message.Int(v); ok {
		return n
	}
	return sqlText(v, zone)
}

// hexText formats bytes like a PostgreSQL bytea.
func hexText(b []byte) string { return `\x` + hex.EncodeToString(b) }

func beUint64(b []byte) uint64 {
	if len(b) != 8 {
		return 0
	}
	return binary.BigEndian.Uint64(b)
}
