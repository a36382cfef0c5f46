package sql

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

var token = regexp.MustCompile(`[a-zA-Z_0-9]+|'[^']*'|\s+|[^\sa-zA-Z_0-9]`)

// TestMutations runs the statements of testdata with words replaced by those of other statements.
// None may panic or hang. MUTATIONS sets the number of runs.
func TestMutations(t *testing.T) {
	files, _ := filepath.Glob("testdata/*")
	var statements [][]string
	var words []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, block := range strings.Split(string(text), "\nsql")[1:] {
			_, body, _ := strings.Cut(block, "\n")
			sql, _, _ := strings.Cut(body, "\n----")
			tokens := token.FindAllString(sql, -1)
			statements, words = append(statements, tokens), append(words, tokens...)
		}
	}
	many, err := strconv.Atoi(os.Getenv("MUTATIONS"))
	if err != nil {
		many = 3000
	}
	seed := uint64(time.Now().UnixNano())
	rng := rand.New(rand.NewPCG(seed, 1))
	c := newClient(true)
	defer func() { c.s.Close() }()
	c.s.opts.Notice = nil
	for i := range many {
		tokens := append([]string(nil), statements[rng.IntN(len(statements))]...)
		for range 1 + rng.IntN(3) {
			at := rng.IntN(len(tokens) + 1)
			switch {
			case at == len(tokens) || rng.IntN(3) == 0:
				tokens = append(tokens[:at:at], append([]string{" ", words[rng.IntN(len(words))]}, tokens[at:]...)...)
			case rng.IntN(2) == 0:
				tokens[at] = words[rng.IntN(len(words))]
			default:
				other := statements[rng.IntN(len(statements))]
				tokens = append(tokens[:at:at], append([]string{"(" + strings.Join(other, "") + ")"}, tokens[at+1:]...)...)
			}
		}
		text := strings.Join(tokens, "")
		runMutation(t, c, text, seed)
		if i%100 == 99 { // occasionally restart
			c.s.Close()
			c = newClient(true)
		}
	}
}

func runMutation(t *testing.T, c *client, text string, seed uint64) {
	defer func() {
		if r := recover(); r != nil {
			t.Fatalf("%s\npanics (seed %d): %v", text, seed, r)
		}
	}()
	all, err := c.s.Split(text)
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	for _, p := range all {
		o, err := c.s.Open(p, nil)
		if err != nil {
			break
		}
		set := c.s.Settings()
		if _, _, err = c.s.Fetch(ctx, o, 0, func(row []value.Datum) error {
			for i, d := range row {
				if d != nil {
					value.String(o.Columns[i].Type, d, &set)
				}
			}
			return nil
		}); err != nil {
			break
		}
	}
	if err := c.s.Sync(context.Background()); err != nil {
		t.Fatal(fmt.Errorf("%s: %w", text, err))
	}
}
