package message

import (
	"bytes"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
)

// allTypes has one value for every letter, and allTypesWire their bytes.
var allTypes = Table{
	{"S", "hi"},
	{"t", true},
	{"b", int8(-2)},
	{"B", uint8(200)},
	{"s", int16(-3)},
	{"u", uint16(60000)},
	{"I", int32(-4)},
	{"i", uint32(4000000000)},
	{"l", int64(-5)},
	{"L", LongLong(6)},
	{"f", float32(1.5)},
	{"d", float64(-2.5)},
	{"D", Decimal{Scale: 2, Value: 314}},
	{"T", Timestamp(1700000000)},
	{"F", Table{{"k", "v"}, {"k", nil}}},
	{"A", Array{int32(1), "a", Array{}}},
	{"x", Bytes{0, 255}},
	{"V", nil},
}

const allTypesWire = "" +
	"\x01SS\x00\x00\x00\x02hi" +
	"\x01tt\x01" +
	"\x01bb\xfe" +
	"\x01BB\xc8" +
	"\x01ss\xff\xfd" +
	"\x01uu\xea\x60" +
	"\x01II\xff\xff\xff\xfc" +
	"\x01ii\xee\x6b\x28\x00" +
	"\x01ll\xff\xff\xff\xff\xff\xff\xff\xfb" +
	"\x01LL\x00\x00\x00\x00\x00\x00\x00\x06" +
	"\x01ff\x3f\xc0\x00\x00" +
	"\x01dd\xc0\x04\x00\x00\x00\x00\x00\x00" +
	"\x01DD\x02\x00\x00\x01\x3a" +
	"\x01TT\x00\x00\x00\x00\x65\x53\xf1\x00" +
	"\x01FF\x00\x00\x00\x0b\x01kS\x00\x00\x00\x01v\x01kV" +
	"\x01AA\x00\x00\x00\x10I\x00\x00\x00\x01S\x00\x00\x00\x01aA\x00\x00\x00\x00" +
	"\x01xx\x00\x00\x00\x02\x00\xff" +
	"\x01VV"

func TestTableBytes(t *testing.T) {
	got := AppendTable(nil, allTypes)
	want := append([]byte{0, 0, 0, byte(len(allTypesWire))}, allTypesWire...)
	if !bytes.Equal(got, want) {
		t.Errorf("AppendTable:\n got %q\nwant %q", got, want)
	}
	table, err := DecodeTable([]byte(allTypesWire))
	if err != nil {
		t.Fatalf("DecodeTable: %v", err)
	}
	if !reflect.DeepEqual(table, allTypes) {
		t.Errorf("DecodeTable:\n got %#v\nwant %#v", table, allTypes)
	}
	if err := CheckTable([]byte(allTypesWire)); err != nil {
		t.Errorf("CheckTable: %v", err)
	}
}

func TestTableTruncated(t *testing.T) {
	whole := map[int]bool{0: true} // lengths at which a field ends
	for i := range allTypes {
		whole[len(AppendTable(nil, allTypes[:i+1]))-4] = true
	}
	for n := range len(allTypesWire) {
		b := []byte(allTypesWire)[:n]
		_, err := DecodeTable(b)
		check := CheckTable(b)
		if whole[n] != (err == nil) || whole[n] != (check == nil) {
			t.Errorf("%d bytes: DecodeTable %v, CheckTable %v, complete %v", n, err, check, whole[n])
		}
		if err != nil && !errors.Is(err, ErrMalformedTable) {
			t.Errorf("%d bytes: error %v is not ErrMalformedTable", n, err)
		}
	}
}

func TestTableMalformed(t *testing.T) {
	for name, wire := range map[string]string{
		"unknown letter":        "\x01aZ",
		"letter missing":        "\x01a",
		"longer than its table": "\x01aF\x00\x00\x00\x04\x01bIx\x01cV",
		"length of 4 GiB":       "\x01aS\xff\xff\xff\xffx",
		"array of nothing":      "\x01aA\x00\x00\x00\x01Q",
	} {
		if table, err := DecodeTable([]byte(wire)); !errors.Is(err, ErrMalformedTable) || table != nil {
			t.Errorf("%s: DecodeTable = %v, %v", name, table, err)
		}
		if err := CheckTable([]byte(wire)); !errors.Is(err, ErrMalformedTable) {
			t.Errorf("%s: CheckTable = %v", name, err)
		}
	}
}

func nest(levels int, asArray bool) Table {
	inner := Table{}
	for range levels - 1 {
		if asArray {
			inner = Table{{"a", Array{inner}}}
			continue
		}
		inner = Table{{"n", inner}}
	}
	return inner
}

func TestTableDepth(t *testing.T) {
	deepest := AppendTable(nil, nest(MaxTableDepth, false))[4:]
	if _, err := DecodeTable(deepest); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	for _, table := range []Table{nest(MaxTableDepth+1, false), nest(MaxTableDepth/2+2, true)} {
		tooDeep := AppendTable(nil, table)[4:]
		if _, err := DecodeTable(tooDeep); !errors.Is(err, ErrTableTooDeep) {
			t.Errorf("beyond the limit: DecodeTable = %v", err)
		}
		if err := CheckTable(tooDeep); !errors.Is(err, ErrTableTooDeep) {
			t.Errorf("beyond the limit: CheckTable = %v", err)
		}
		if err := table.Validate(); !errors.Is(err, ErrTableTooDeep) {
			t.Errorf("beyond the limit: Validate = %v", err)
		}
	}
}

func TestTableLookup(t *testing.T) {
	table := Table{{"a", int32(1)}, {"b", "x"}, {"a", int32(2)}}
	if v, ok := table.Get("a"); !ok || v != int32(1) {
		t.Errorf("Get = %v, %v; want the first", v, ok)
	}
	table.Set("b", "y")
	table.Set("c", nil)
	table.Delete("a")
	if want := (Table{{"b", "y"}, {"c", nil}}); !reflect.DeepEqual(table, want) {
		t.Errorf("after Set and Delete: %v, want %v", table, want)
	}
	if _, ok := table.Get("a"); ok {
		t.Error("Get finds a deleted name")
	}
}

func TestHeaderLookup(t *testing.T) {
	raw := []byte(allTypesWire)
	for _, f := range allTypes {
		v, ok := HeaderLookup(raw, f.Name)
		if !ok || !reflect.DeepEqual(v, f.Value) {
			t.Errorf("HeaderLookup(%q) = %#v, %v; want %#v", f.Name, v, ok, f.Value)
		}
	}
	if v, ok := HeaderLookup(raw, "k"); ok {
		t.Errorf("a nested name was found: %v", v)
	}
	if v, ok := HeaderLookup(raw[:len(raw)-2], "V"); ok {
		t.Errorf("a cut name was found: %v", v)
	}
	if v, ok := HeaderLookup([]byte("\x02\x00"), ""); ok {
		t.Errorf("the empty name was found in a malformed table: %v", v)
	}
}

func TestNativeGoValues(t *testing.T) {
	native := AppendTable(nil, Table{{"i", -7}, {"b", []byte("z")}, {"a", []any{true}}})
	wire := AppendTable(nil, Table{{"i", int64(-7)}, {"b", Bytes("z")}, {"a", Array{true}}})
	if !bytes.Equal(native, wire) {
		t.Errorf("got %q, want %q", native, wire)
	}
}

func TestValidate(t *testing.T) {
	if err := allTypes.Validate(); err != nil {
		t.Errorf("all types: %v", err)
	}
	for name, table := range map[string]Table{
		"type":         {{"a", struct{}{}}},
		"nested type":  {{"a", Array{Table{{"b", uint64(1)}}}}},
		"in any slice": {{"a", []any{uint(1)}}},
		"long name":    {{strings.Repeat("n", MaxShortStr+1), nil}},
	} {
		if err := table.Validate(); !errors.Is(err, ErrUnencodable) {
			t.Errorf("%s: Validate = %v", name, err)
		}
	}
}

func TestIntAndTypeName(t *testing.T) {
	for _, c := range []struct {
		v      any
		name   string
		number int64
		isInt  bool
	}{
		{"x", "longstr", 0, false},
		{true, "bool", 0, false},
		{int8(-1), "byte", -1, true},
		{uint8(255), "unsignedbyte", 255, true},
		{int16(-1), "short", -1, true},
		{uint16(65535), "unsignedshort", 65535, true},
		{int32(-1), "signedint", -1, true},
		{uint32(math.MaxUint32), "unsignedint", math.MaxUint32, true},
		{int64(math.MinInt64), "long", math.MinInt64, true},
		{LongLong(7), "long", 7, true},
		{8, "long", 8, true},
		{float32(1), "float", 0, false},
		{float64(1), "double", 0, false},
		{Decimal{}, "decimal", 0, false},
		{Timestamp(1), "timestamp", 0, false},
		{Table{}, "table", 0, false},
		{Array{}, "array", 0, false},
		{Bytes{}, "binary", 0, false},
		{nil, "void", 0, false},
		{uint64(1), "unknown", 0, false},
	} {
		if got := TypeName(c.v); got != c.name {
			t.Errorf("TypeName(%T) = %q, want %q", c.v, got, c.name)
		}
		if n, ok := Int(c.v); n != c.number || ok != c.isInt {
			t.Errorf("Int(%T) = %d, %v; want %d, %v", c.v, n, ok, c.number, c.isInt)
		}
	}
}

func FuzzTable(f *testing.F) {
	f.Add([]byte(allTypesWire))
	f.Add([]byte{})
	f.Add([]byte("\x01tt\x02"))
	f.Add(AppendTable(nil, nest(MaxTableDepth+1, false))[4:])
	f.Fuzz(func(t *testing.T, b []byte) {
		table, err := DecodeTable(b)
		if check := CheckTable(b); (check == nil) != (err == nil) {
			t.Fatalf("DecodeTable says %v, CheckTable %v", err, check)
		}
		if err != nil {
			return
		}
		if err := table.Validate(); err != nil {
			t.Fatalf("Validate of a decoded table: %v", err)
		}
		once := AppendTable(nil, table)[4:]
		if len(once) != len(b) {
			t.Fatalf("encoded again: %d bytes, want %d", len(once), len(b))
		}
		again, err := DecodeTable(once)
		if err != nil {
			t.Fatalf("decoding what was encoded: %v", err)
		}
		// Bytes are compared, not values: a NaN is not equal to itself.
		if twice := AppendTable(nil, again)[4:]; !bytes.Equal(once, twice) {
			t.Fatalf("encoding is not stable:\n%q\n%q", once, twice)
		}
	})
}
