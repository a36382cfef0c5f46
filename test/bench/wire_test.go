package main

import (
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"testing"
)

// pipe returns a conn that reads stream in pieces of the given size.
func pipe(t *testing.T, stream []byte, piece int) *conn {
	t.Helper()
	here, there := net.Pipe()
	go func() {
		for p := range slices.Chunk(stream, piece) {
			if _, err := there.Write(p); err != nil {
				return
			}
		}
		there.Close()
	}()
	t.Cleanup(func() { here.Close() })
	return &conn{Conn: here}
}

func TestWalkFindsFramesInAnyPieces(t *testing.T) {
	stream := appendPublish(nil, "x", "key", 300, true)
	stream = appendPublish(stream, "", "other", 0, false)
	for _, piece := range []int{1, 7, 8, 100, len(stream)} {
		var types []byte
		var sizes []int
		err := pipe(t, stream, piece).walk(func(typ byte, payload []byte) error {
			types, sizes = append(types, typ), append(sizes, len(payload))
			return nil
		}, func() error { return nil })
		if !errors.Is(err, io.EOF) {
			t.Fatalf("pieces of %d: ended with %v, want EOF", piece, err)
		}
		if want := []byte{1, 2, 3, 1, 2, 3}; !slices.Equal(types, want) {
			t.Errorf("pieces of %d: frame types %v, want %v", piece, types, want)
		}
		if want := []int{13, 15, 300, 14, 15, 0}; !slices.Equal(sizes, want) {
			t.Errorf("pieces of %d: payload sizes %v, want %v", piece, sizes, want)
		}
	}
}

func TestWalkRefusesFrameBeyondBuffer(t *testing.T) {
	stream := []byte{frameBody, 0, 1, 0xff, 0xff, 0xff, 0xff, 0}
	err := pipe(t, stream, len(stream)).walk(func(byte, []byte) error { return nil }, func() error { return nil })
	if err == nil || errors.Is(err, io.EOF) {
		t.Fatalf("got %v, want an error about the frame", err)
	}
}

func TestExpectSkipsToAnswerAndReportsClose(t *testing.T) {
	stream := appendMethod(nil, 1, basicAck, make([]byte, 9))
	stream = appendMethod(stream, 1, queueDeclareOK, []byte("answer"))
	stream = appendMethod(stream, 1, channelClose, []byte("why"))
	k := pipe(t, stream, 5)
	if got, err := k.expect(queueDeclareOK); err != nil || string(got) != "answer" {
		t.Fatalf("got %q, %v", got, err)
	}
	if _, err := k.expect(queueDeclareOK); !errors.Is(err, errRefused) {
		t.Fatalf("got %v, want errRefused", err)
	}
}

func TestConsumerCountsAndAcks(t *testing.T) {
	var stream []byte
	for range 5 {
		stream = appendMethod(stream, 1, 60<<16|60, []byte("deliver"))
		stream = appendHeader(stream, 6, false)
		stream = appendFrame(stream, frameBody, 1, []byte("abc")) // a body in two frames is one message
		stream = appendFrame(stream, frameBody, 1, []byte("def"))
	}
	acks := &recorder{Conn: pipe(t, stream, 11)}
	s := &consumer{conn: &conn{Conn: acks}, ackEvery: 2}
	if err := s.conn.walk(s.visit, func() error { return nil }); !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if s.n != 5 {
		t.Errorf("counted %d messages, want 5", s.n)
	}
	if want := []uint64{2, 4}; !slices.Equal(acks.tags, want) {
		t.Errorf("acked %v, want %v", acks.tags, want)
	}
}

// recorder records the delivery tags of the acks written to it.
type recorder struct {
	net.Conn
	tags []uint64
}

func (r *recorder) Write(b []byte) (int, error) {
	r.tags = append(r.tags, binary.BigEndian.Uint64(b[11:]))
	return len(b), nil
}

func TestPropertyString(t *testing.T) {
	table := append(appendShort(nil, "version"), 'S')
	table = appendLong(table, "3.10.8")
	for name, tc := range map[string]struct {
		table []byte
		want  string
	}{
		"there": {append([]byte("xx"), append(table, 'z')...), "3.10.8"},
		"cut":   {table[:len(table)-1], ""},
		"none":  {[]byte("nothing"), ""},
	} {
		if got := propertyString(tc.table, "version"); got != tc.want {
			t.Errorf("%s: got %q, want %q", name, got, tc.want)
		}
	}
}
