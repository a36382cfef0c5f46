package libpgquery

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// ErrTrapped says that the parser has stopped in the middle of a text, as when its stack or its
// memory is exhausted. It must not be used again.
var ErrTrapped = errors.New("libpgquery: the parser has trapped")

// Parser is one instance, for one goroutine at a time.
type Parser struct {
	m     *Module
	stack int32 // the stack pointer while nothing runs
}

// NewParser returns an instance of some 2 MB.
func NewParser() *Parser {
	m := New(host{}, host{})
	m.X_initialize()
	return &Parser{m: m, stack: m.___stack_pointer}
}

// Bytes returns the size of its memory, which never shrinks: texts that are large make it larger.
func (p *Parser) Bytes() int { return len(p.m.memory) }

// Error is what PostgreSQL says of a text that it rejects.
type Error struct {
	Code     string // SQLSTATE
	Message  string
	Detail   string
	Hint     string
	Position int // characters from 1; 0 unknown
}

func (e *Error) Error() string { return e.Message }

// Parse returns the tree of a text, a ParseResult of pg_query.proto. Like PostgreSQL it reads up to
// the first zero byte. The error is an *Error or ErrTrapped.
func (p *Parser) Parse(text string) (tree []byte, err error) {
	defer func() {
		if trap := recover(); trap != nil {
			tree, err = nil, fmt.Errorf("%w: %v", ErrTrapped, trap)
		}
	}()
	in := p.m.Xmalloc(int32(len(text)) + 1)
	copy(p.m.memory[in:], text)
	p.m.memory[int(in)+len(text)] = 0
	out, ok := p.run(in)
	if !ok {
		p.m.___stack_pointer = p.stack
		out = p.m.Xfailure()
	}
	tree, err = p.outcome(out)
	p.m.Xfinish()
	p.m.Xfree(in)
	return tree, err
}

// run parses the text at an address. It is not ok if PostgreSQL found an error.
func (p *Parser) run(in int32) (out int32, ok bool) {
	defer func() {
		if e := recover(); e != nil && e != (thrown{}) {
			panic(e)
		}
	}()
	return p.m.Xparse(in), true
}

// The fields of translate/parse.c's outcome.
const (
	length = iota
	tree
	message
	detail
	hint
	sqlstate
	position
)

func (p *Parser) outcome(at int32) ([]byte, error) {
	field := func(i int) uint32 { return binary.LittleEndian.Uint32(p.m.memory[int(at)+4*i:]) }
	text := func(i int) string { return p.text(field(i)) }
	if field(message) == 0 {
		return bytes.Clone(p.m.memory[field(tree):][:field(length)]), nil
	}
	return nil, &Error{
		Code: unpackState(field(sqlstate)), Message: text(message), Detail: text(detail), Hint: text(hint), Position: int(field(position)),
	}
}

// text returns the zero-terminated string at an address, and none at 0.
func (p *Parser) text(at uint32) string {
	if at == 0 {
		return ""
	}
	rest := p.m.memory[at:]
	return string(rest[:bytes.IndexByte(rest, 0)])
}

// unpackState returns the five characters of an SQLSTATE, six bits for each (utils/elog.h).
func unpackState(packed uint32) string {
	var state [5]byte
	for i := range state {
		state[i] = '0' + byte(packed>>(6*i)&0x3f)
	}
	return string(state[:])
}
