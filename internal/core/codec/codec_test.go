package codec

import (
	"bytes"
	"encoding/binary"
	"errors"
	"math"
	"testing"
)

// sample holds one field of each kind, in the order in which read reads them.
func sample(prefixed, text string, u uint64, s int64) []byte {
	b := append([]byte{7}, 0x01, 0x02)
	b = binary.BigEndian.AppendUint32(b, 0xfffefdfc)
	b = binary.BigEndian.AppendUint64(b, u)
	b = binary.LittleEndian.AppendUint64(b, u)
	b = AppendUvarints(b, u)
	b = binary.AppendVarint(b, s)
	b = AppendPrefixed(b, []byte(prefixed))
	return AppendPrefixed(b, text)
}

func TestReader(t *testing.T) {
	for _, u := range []uint64{0, 1, 127, 128, 1<<32 - 1, math.MaxUint64} {
		for _, s := range []int64{0, -1, 63, 64, math.MinInt64, math.MaxInt64} {
			r := NewReader(sample("ab", "", u, s))
			v8, v16, v32, v64, le := r.Uint8(), r.Uint16(), r.Uint32(), r.Uint64(), r.Uint64LE()
			if v8 != 7 || v16 != 0x102 || v32 != 0xfffefdfc || v64 != u || le != u {
				t.Errorf("%d, %x, %x, %d, %d", v8, v16, v32, v64, le)
			}
			uv, sv, prefixed, text := r.Uvarint(), r.Varint(), r.Prefixed(), r.String()
			if uv != u || sv != s || string(prefixed) != "ab" || text != "" {
				t.Errorf("%d, %d, %q, %q instead of %d, %d", uv, sv, prefixed, text, u, s)
			}
			if err := r.End(); err != nil {
				t.Error(err)
			}
		}
	}
}

// TestFirstFailureSticks truncates a sample at each position: complete fields are read, and
// everything after the first failure is zero.
func TestFirstFailureSticks(t *testing.T) {
	whole := sample("ab", "cd", math.MaxUint64, math.MinInt64)
	for n := range whole {
		r := NewReader(whole[:n])
		values := []any{r.Uint8(), r.Uint16(), r.Uint32(), r.Uint64(), r.Uint64LE(), r.Uvarint(), r.Varint(), len(r.Prefixed()), len(r.String())}
		if !errors.Is(r.End(), ErrTruncated) {
			t.Errorf("%d of %d bytes: %v", n, len(whole), r.End())
		}
		sizes := []int{1, 2, 4, 8, 8, 10, 10, 3, 3}
		for i, size := range sizes {
			n -= size
			if zero := values[i] == any(uint8(0)) || values[i] == any(uint16(0)) || values[i] == any(uint32(0)) || values[i] == any(uint64(0)) ||
				values[i] == any(int64(0)) || values[i] == any(0); zero != (n < 0) {
				t.Errorf("field %d with %d bytes too many is %v", i, n, values[i])
			}
		}
	}
}

func TestFailures(t *testing.T) {
	mine := errors.New("mine")
	for name, c := range map[string]struct {
		b    []byte
		read func(*Reader)
		want error
	}{
		"a varint of more than 64 bits": {bytes.Repeat([]byte{0xff}, 11), func(r *Reader) { r.Uvarint() }, ErrVarint},
		"a varint without an end":       {[]byte{0x80}, func(r *Reader) { r.Uvarint() }, ErrTruncated},
		"bytes left":                    {[]byte{1, 2}, func(r *Reader) { r.Uint8() }, ErrTrailing},
		"fewer than no bytes":           {[]byte{1, 2}, func(r *Reader) { r.Bytes(-1) }, ErrTruncated},
		"a length near the end of ints": {binary.AppendUvarint(nil, math.MaxUint64), func(r *Reader) { r.Prefixed() }, ErrTruncated},
		"a failure of the caller's":     {[]byte{1}, func(r *Reader) { r.Fail(mine); r.Uint8(); r.Fail(ErrVarint) }, mine},
	} {
		r := NewReader(c.b)
		c.read(&r)
		if err := r.End(); !errors.Is(err, c.want) || r.Len() > 0 || len(r.Rest()) > 0 {
			t.Errorf("%s: %v, %d bytes left", name, err, r.Len())
		}
	}
}

func TestCount(t *testing.T) {
	b := append([]byte{3}, "abcdef"...)
	for size, want := range map[int]int{1: 3, 2: 3, 3: 0} {
		r := NewReader(b)
		if n := r.Count(size); n != want || (r.Err() == nil) != (want > 0) {
			t.Errorf("elements of %d bytes: %d, %v", size, n, r.Err())
		}
	}
}

// TestAliases checks that appending to a returned slice does not change the bytes behind it.
func TestAliases(t *testing.T) {
	b := []byte{1, 'a', 'b'}
	r := NewReader(b)
	if _ = append(r.Prefixed(), 'x'); b[2] != 'b' {
		t.Errorf("%q", b)
	}
}

func TestUvarintLen(t *testing.T) {
	for bit := range 64 {
		for _, v := range []uint64{1<<bit - 1, 1 << bit} {
			if got, want := UvarintsLen(v, v), len(AppendUvarints(nil, v, v)); got != want {
				t.Errorf("%#x twice takes %d bytes, not %d", v, want, got)
			}
		}
	}
}

// FuzzReader reads arbitrary bytes as arbitrary fields. No more is read than there is, and varints
// agree with encoding/binary.
func FuzzReader(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, sample("ab", "cd", 300, -300))
	f.Add([]byte{6}, bytes.Repeat([]byte{0xff}, 12))
	f.Fuzz(func(t *testing.T, fields, b []byte) {
		r := NewReader(b)
		for _, field := range fields {
			before, failed := r.Rest(), r.Err() != nil
			var got, want any
			switch field % 10 {
			case 0:
				got = r.Uint8()
			case 1:
				got = r.Uint16()
			case 2:
				got = r.Uint32()
			case 3:
				got = r.Uint64()
			case 4:
				got = r.Uint64LE()
			case 5:
				u, n := binary.Uvarint(before)
				if got, want = r.Uvarint(), u; n <= 0 {
					want = uint64(0)
				}
			case 6:
				s, n := binary.Varint(before)
				if got, want = r.Varint(), s; n <= 0 {
					want = int64(0)
				}
			case 7:
				got = len(r.Prefixed())
			case 8:
				got = len(r.String())
			case 9:
				if n := r.Count(2); 2*n > r.Len() {
					t.Fatalf("%d elements of two bytes in %d", n, r.Len())
				}
			}
			if want != nil && got != want {
				t.Fatalf("%v instead of %v", got, want)
			}
			if failed && (r.Err() == nil || r.Len() > 0) || !bytes.HasSuffix(before, r.Rest()) {
				t.Fatalf("%x is left of %x", r.Rest(), before)
			}
		}
	})
}
