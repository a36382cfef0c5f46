//go:build cgo

package libpgquery

import (
	"bytes"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	compiled "github.com/pganalyze/pg_query_go/v6/parser"
)

var token = regexp.MustCompile(`\w+|'[^']*'|\s+|[^\s\w]`)

// TestSameAsCompiled compares the parser with the same C compiled for this machine, over the
// statements of package sql's scripts and mixtures of their words: trees byte by byte, and errors.
func TestSameAsCompiled(t *testing.T) {
	texts := scripts(t)
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	p := NewParser()
	rejected := 0
	for i := range 10 * len(texts) {
		words := token.FindAllString(texts[i%len(texts)], -1)
		for range i / len(texts) {
			other := token.FindAllString(texts[rng.IntN(len(texts))], -1)
			words[rng.IntN(len(words))] = other[rng.IntN(len(other))]
		}
		text := strings.Join(words, "")
		got, err := p.Parse(text)
		want, wantErr := compiled.ParseToProtobuf(text)
		if !bytes.Equal(got, want) || !sameError(err, wantErr) {
			t.Fatalf("%q (seed %d): %d bytes, %v; compiled %d bytes, %v", text, seed, len(got), err, len(want), wantErr)
		}
		if err != nil {
			rejected++
		}
	}
	if n := 10 * len(texts); n < 1000 || rejected == 0 || rejected == n {
		t.Errorf("%d of %d texts were rejected", rejected, n)
	}
}

func sameError(got, want error) bool {
	if got == nil || want == nil {
		return got == want
	}
	var g *Error
	var w *compiled.Error
	return errors.As(got, &g) && errors.As(want, &w) && g.Message == w.Message && g.Position == w.Cursorpos
}

// scripts returns the blocks of package sql's scripts: statements, and what they answer.
func scripts(t *testing.T) (blocks []string) {
	t.Helper()
	err := filepath.WalkDir("../../testdata", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := os.ReadFile(name)
		for _, block := range regexp.MustCompile(`\n(----|sql.*)?\n`).Split(string(text), -1) {
			if strings.TrimSpace(block) != "" {
				blocks = append(blocks, block)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}
