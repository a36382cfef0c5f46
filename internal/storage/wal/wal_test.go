package wal

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"os"
	"slices"
	"testing"
)

var rewriteGolden = flag.Bool("rewrite", false, "write testdata/v1.seg anew")

const goldenSalt = 0x5eed5a17

func appendFrame(dst []byte, h Header, payload []byte) []byte {
	h.Term = 1
	dst = AppendHeader(dst, goldenSalt, &h, payload)
	return append(dst, payload...)
}

// goldenSegment has every kind of frame, a group, two shards and a footer.
func goldenSegment() []byte {
	b := AppendSegmentHeader(nil, 7, goldenSalt)
	x := Index{}
	add := func(h Header, payload []byte) {
		h.Length = uint32(len(payload))
		x.Add(&h, int64(len(b)))
		b = appendFrame(b, h, payload)
	}
	add(Header{Kind: KindFacts, Shard: 1, Index: 41, Refs: 2}, []byte("\x03\x01ab\x02\x02c"))
	add(Header{Kind: KindFacts, Shard: 2, Index: 9, Flags: Continued, Synced: 32}, []byte("\x01\x07"))
	add(Header{Kind: KindFacts, Shard: 1, Index: 42, Synced: 32}, bytes.Repeat([]byte("\x04\x01xyz"), 10))
	add(Header{Kind: KindNoop, Shard: 1, Index: 43, Synced: 80}, nil)
	add(Header{Kind: KindSparse, Shard: 3, Index: 5, Synced: 80}, AppendSparse(AppendSparse(nil, 4, []byte("\x01five")), 2, []byte("\x01eight")))
	return AppendFooter(b, goldenSalt, 7, int64(len(b)), 80, x)
}

func TestGoldenSegment(t *testing.T) {
	got := goldenSegment()
	if *rewriteGolden {
		if err := os.WriteFile("testdata/v1.seg", got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/v1.seg")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Fatal("the format changed: logs that exist could not be read any more")
	}
	r := bytes.NewReader(want)
	scanned, err := ScanTail(r, r.Size(), 7)
	if err != nil || !scanned.Sealed || scanned.Torn != 0 || scanned.Salt != goldenSalt {
		t.Fatalf("ScanTail: %+v, %v", scanned, err)
	}
	sealed, err := ReadSealed(r, r.Size(), 7)
	if err != nil || sealed.End != scanned.End {
		t.Fatalf("ReadSealed: %+v, %v; the scan ends at %d", sealed, err, scanned.End)
	}
	for _, tail := range []Tail{scanned, sealed} {
		e := tail.Index[1]
		if len(tail.Index) != 3 || e.First != 41 || e.Last != 43 || e.Frames != 3 || e.Refs != 2 {
			t.Fatalf("index: %+v, shard 1: %+v", tail.Index, e)
		}
		if off, ok := e.Seek(43); !ok || off != SegmentHeaderSize {
			t.Fatalf("Seek(43) = %d, %t", off, ok)
		}
	}
}

func TestFacts(t *testing.T) {
	type fact struct {
		sub  uint32
		text string
	}
	sparse := AppendSparse(AppendSparse(AppendSparse(nil, 4, []byte("five")), 0, []byte("six")), 2, []byte("nine"))
	for _, tc := range []struct {
		name    string
		kind    Kind
		payload []byte
		want    []fact
		bad     bool
	}{
		{"facts", KindFacts, []byte("\x03abc\x01d"), []fact{{0, "abc"}, {1, "d"}}, false},
		{"sparse", KindSparse, sparse, []fact{{4, "five"}, {5, "six"}, {8, "nine"}}, false},
		{"noop", KindNoop, nil, nil, false},
		{"cut", KindFacts, []byte("\x03abc\x05d"), []fact{{0, "abc"}}, true},
		{"empty fact", KindFacts, []byte("\x00"), nil, true},
		{"length too long", KindFacts, bytes.Repeat([]byte{0xff}, 11), nil, true},
		{"number too large", KindSparse, []byte("\xff\xff\xff\xff\x1f\x01a"), nil, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			f := NewFacts(tc.kind, tc.payload)
			var got []fact
			for {
				sub, text, ok := f.Next()
				if !ok {
					break
				}
				got = append(got, fact{sub, string(text)})
			}
			if !slices.Equal(got, tc.want) || (f.Err() != nil) != tc.bad {
				t.Fatalf("got %v, %v", got, f.Err())
			}
		})
	}
}

func TestNewerVersionIsNotCorruption(t *testing.T) {
	resum := func(b []byte) []byte {
		sum := frameSum(goldenSalt, b, b[FrameHeaderSize:])
		b[4], b[5], b[6], b[7] = byte(sum), byte(sum>>8), byte(sum>>16), byte(sum>>24)
		return b
	}
	frame := func() []byte { return appendFrame(nil, Header{Kind: KindFacts, Shard: 1, Index: 1}, []byte("\x01a")) }
	newer, unknown := frame(), frame()
	newer[9], unknown[8] = 2, 77
	for _, tc := range []struct {
		frame []byte
		want  error
	}{{resum(newer), ErrUnsupportedFormat}, {resum(unknown), ErrUnknownKind}} {
		b := append(AppendSegmentHeader(nil, 1, goldenSalt), tc.frame...)
		_, err := ScanTail(bytes.NewReader(b), int64(len(b)), 1)
		if !errors.Is(err, tc.want) || errors.Is(err, ErrCorrupt) {
			t.Errorf("ScanTail: %v, want %v", err, tc.want)
		}
	}
}

func TestSegmentNames(t *testing.T) {
	for _, n := range []uint64{0, 1, 0xabc, 1<<64 - 1} {
		if got, ok := ParseSegmentName(SegmentName(n)); !ok || got != n {
			t.Errorf("ParseSegmentName(%q) = %d, %t", SegmentName(n), got, ok)
		}
	}
	for _, name := range []string{"", "seg-1.log", "seg-00000000000000zz.log", "seg-000000000000000A.log", "seg-0000000000000001.log.tmp"} {
		if n, ok := ParseSegmentName(name); ok {
			t.Errorf("ParseSegmentName(%q) = %d", name, n)
		}
	}
}

// A client's message that looks like frames must not turn a torn end into corruption.
func TestForgedFrameInBody(t *testing.T) {
	forged := AppendHeader(nil, goldenSalt+1, &Header{Kind: KindFacts, Shard: 1, Index: 9, Term: 1, Synced: 200}, nil)
	b := AppendSegmentHeader(nil, 1, goldenSalt)
	b = appendFrame(b, Header{Kind: KindFacts, Shard: 1, Index: 1}, []byte("\x01a"))
	end := len(b)
	body := append(bytes.Repeat([]byte{'x'}, 300), forged...)
	b = appendFrame(b, Header{Kind: KindFacts, Shard: 1, Index: 2, Synced: 32}, append(body, 'x'))
	b = b[:len(b)-1]
	tail, err := ScanTail(bytes.NewReader(b), int64(len(b)), 1)
	if err != nil || tail.End != int64(end) {
		t.Fatalf("ScanTail: end %d, %v, want end %d", tail.End, err, end)
	}
}

func FuzzDecodeFrame(f *testing.F) {
	golden := goldenSegment()
	f.Add(golden[SegmentHeaderSize:])
	f.Add(appendFrame(nil, Header{Kind: KindNoop}, nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		h, payload, err := DecodeFrame(b, goldenSalt)
		if err == nil {
			again := append(AppendHeader(nil, goldenSalt, &h, payload), payload...)
			if !bytes.Equal(again, b[:h.Size()]) {
				t.Fatalf("encoded again: %x, was %x", again, b[:h.Size()])
			}
		}
		for _, kind := range []Kind{KindFacts, KindSparse} {
			facts := NewFacts(kind, b)
			for n := 0; ; n++ {
				if _, _, ok := facts.Next(); !ok {
					break
				}
				if n > len(b) {
					t.Fatal("more facts than bytes")
				}
			}
		}
		if _, err := DecodeFooter(b); err != nil && !errors.Is(err, ErrBadFrame) {
			t.Fatalf("DecodeFooter: %v", err)
		}
		segment := append(AppendSegmentHeader(nil, 1, goldenSalt), b...)
		r := bytes.NewReader(segment)
		tail, err := ScanTail(r, r.Size(), 1)
		if err == nil && tail.Torn > 0 {
			cut := io.NewSectionReader(r, 0, tail.End)
			if again, err := ScanTail(cut, tail.End, 1); err != nil || again.End != tail.End || again.Torn != 0 {
				t.Fatalf("after the cut: %+v, %v", again, err)
			}
		}
	})
}
