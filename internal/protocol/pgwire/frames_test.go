package pgwire

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
)

// fits returns its data in small pieces, with errors in between like those of interrupted reads.
type fits struct {
	rest []byte
	rng  *rand.Rand
}

func (f *fits) Read(p []byte) (int, error) {
	switch {
	case len(f.rest) == 0:
		return 0, io.EOF
	case f.rng.IntN(3) == 0:
		return 0, os.ErrDeadlineExceeded
	}
	n := copy(p, f.rest[:min(len(f.rest), 1+f.rng.IntN(30_000))])
	f.rest = f.rest[n:]
	return n, nil
}

// Messages of all sizes arrive complete and in order, however they are split and interrupted.
func TestFrames(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	var sent []string
	var all []byte
	for i := range 300 {
		size := []int{0, 1, 100, readBuffer - headerBytes, readBuffer, 3 * readBuffer, 2 * keptBuffer}[rng.IntN(7)]
		sent = append(sent, strings.Repeat(string(rune('a'+i%26)), size))
		all = append(all, frame('d', sent[i])...)
	}
	f := frames{r: &fits{all, rng}, limit: 1 << 20}
	for i := 0; i < len(sent); {
		m, err := f.next()
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded):
			continue
		case err != nil || m.kind != 'd' || string(m.body) != sent[i]:
			t.Fatalf("message %d: %d bytes of %d, %v", i, len(m.body), len(sent[i]), err)
		}
		i++
	}
	for {
		_, err := f.next()
		if err == io.EOF {
			break
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if cap(f.buf) > keptBuffer {
		t.Errorf("%d bytes are kept", cap(f.buf))
	}
}

// An announced length allocates no memory before its bytes arrive.
func TestFramesTakeWhatCame(t *testing.T) {
	f := frames{r: bytes.NewReader([]byte("Q\x3f\xff\xff\xff and not much of it")), limit: 1 << 30}
	if _, err := f.next(); err != io.ErrUnexpectedEOF {
		t.Error(err)
	}
	if cap(f.buf) > readBuffer {
		t.Errorf("%d bytes for a few", cap(f.buf))
	}
}
