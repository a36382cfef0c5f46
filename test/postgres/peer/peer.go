// Package peer asks a real PostgreSQL server for the results that a test compares with its own, on
// random input that a seed repeats.
package peer

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"strconv"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fiveways.dev/fiveways/test/postgres"
)

// MaxDifferences is the number of differences after which a comparison ends.
const MaxDifferences = 40

// Peer is a connection to a real PostgreSQL server that serves as the oracle.
type Peer struct {
	t    *testing.T
	conn *pgconn.PgConn
}

// New returns a Peer whose server ends with the test. Its time zone is UTC.
func New(t *testing.T) *Peer {
	t.Helper()
	conn, err := pgconn.Connect(context.Background(), postgres.Start(t, postgres.Options{Settings: []string{"log_min_messages=fatal"}}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close(context.Background()) })
	p := &Peer{t: t, conn: conn}
	p.Exec("set timezone = 'UTC'")
	return p
}

// Exec runs statements that must succeed.
func (p *Peer) Exec(sql string) {
	p.t.Helper()
	if _, err := p.conn.Exec(context.Background(), sql).ReadAll(); err != nil {
		p.t.Fatal(sql, err)
	}
}

// Answer is the one value that a query returns, or its error.
type Answer struct {
	Value []byte // nil: NULL
	Fails string // SQLSTATE and message of an error
}

// Ask runs a query with one parameter.
func (p *Peer) Ask(sql string, param []byte, paramFormat, resultFormat int16) Answer {
	r := p.conn.ExecParams(context.Background(), sql, [][]byte{param}, nil, []int16{paramFormat}, []int16{resultFormat}).Read()
	if r.Err != nil {
		var e *pgconn.PgError
		if !errors.As(r.Err, &e) {
			p.t.Fatalf("%s with %q: %v", sql, param, r.Err)
		}
		return Answer{Fails: e.Code + " " + e.Message}
	}
	return Answer{Value: r.Rows[0][0]}
}

// String returns the answer in the form in which a test compares it: the value after "= ", NULL, or
// the error.
func (a Answer) String() string {
	switch {
	case a.Fails != "":
		return a.Fails
	case a.Value == nil:
		return "NULL"
	}
	return "= " + string(a.Value)
}

// Times returns n, the number of random comparisons, multiplied by the variable VALUES if it is
// set.
func Times(n int) int {
	if more, err := strconv.Atoi(os.Getenv("VALUES")); err == nil {
		return n * more
	}
	return n
}

// Seeded returns a generator with a fixed seed, so that test failures depend only on changes. SEED
// and `make compare` use other seeds.
func Seeded(t *testing.T) *rand.Rand {
	seed := uint64(1)
	if s, err := strconv.ParseUint(os.Getenv("SEED"), 10, 64); err == nil {
		seed = s
	}
	t.Logf("SEED=%d", seed)
	return rand.New(rand.NewPCG(seed, 0))
}

// Pick returns one of the strings.
func Pick(r *rand.Rand, of ...string) string { return of[r.IntN(len(of))] }
