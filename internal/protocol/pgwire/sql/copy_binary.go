package sql

import (
	"encoding/binary"
	"io"
	"strconv"

	"fiveways.dev/fiveways/internal/protocol/pgwire/charset"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/copytext"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/expr"
	"fiveways.dev/fiveways/internal/protocol/pgwire/sql/value"
)

// binaryRows reads rows in binary format.
type binaryRows struct {
	*copyInto
	from     Copier
	encoding *charset.Encoding // of the client's texts; nil: UTF-8
	limit    int               // bytes of a value

	raw    []byte // received data; the part before at is consumed
	at     int
	over   bool // no more data
	number int  // of the current row
	column int  // of cols; -1: none
	vals   []value.Datum
}

func badCopy(format string, args ...any) error {
	return pgerror.New(copytext.BadFormat, format, args...)
}

// binaryRows reads the header and returns a reader of the rows.
func (c *copyInto) binaryRows(s *Session, from Copier) (*binaryRows, error) {
	b := &binaryRows{
		copyInto: c, from: from, encoding: s.textEncoding(), limit: from.CopyLimit(), column: -1, vals: make([]value.Datum, len(c.cols)),
	}
	if head, err := b.take(len(copySignature)); err != nil || string(head) != copySignature {
		return nil, orElse(err, badCopy("COPY file signature not recognized"))
	}
	flags, err := b.number32("invalid COPY file header (missing flags)")
	switch {
	case err != nil:
		return nil, err
	case flags&(1<<16) != 0:
		return nil, badCopy("invalid COPY file header (WITH OIDS)")
	case flags>>16 != 0:
		return nil, badCopy("unrecognized critical flags in COPY file header")
	}
	more, err := b.number32("invalid COPY file header (missing length)")
	if err != nil {
		return nil, err
	}
	if int32(more) < 0 {
		return nil, badCopy("invalid COPY file header (missing length)")
	}
	for left := int(more); left > 0; {
		n := min(left, 1<<10)
		if _, err := b.take(n); err != nil {
			return nil, orElse(err, badCopy("invalid COPY file header (wrong length)"))
		}
		left -= n
	}
	return b, nil
}

// orElse returns other at the end of the data, and otherwise err.
func orElse(err, other error) error {
	if err != nil && err != io.EOF {
		return err
	}
	return other
}

// take returns the next n bytes, valid until the next call, or io.EOF if there are fewer.
func (b *binaryRows) take(n int) ([]byte, error) {
	for len(b.raw)-b.at < n {
		if b.over {
			return nil, io.EOF
		}
		b.raw = b.raw[:copy(b.raw, b.raw[b.at:])]
		b.at = 0
		piece, err := b.from.CopyPiece()
		if err == io.EOF {
			b.over = true
		} else if err != nil {
			return nil, err
		}
		b.raw = append(b.raw, piece...)
	}
	taken := b.raw[b.at : b.at+n]
	b.at += n
	return taken, nil
}

func (b *binaryRows) number32(missing string) (uint32, error) {
	got, err := b.take(4)
	if err != nil {
		return 0, orElse(err, badCopy("%s", missing))
	}
	return binary.BigEndian.Uint32(got), nil
}

func (b *binaryRows) next(*expr.Env) ([]value.Datum, error) {
	b.number++
	head, err := b.take(2)
	if err == io.EOF {
		return nil, nil // the trailer is optional
	}
	if err != nil {
		return nil, err
	}
	switch count := int(int16(binary.BigEndian.Uint16(head))); {
	case count == -1:
		if _, err := b.take(1); err != io.EOF {
			return nil, orElse(err, badCopy("received copy data after EOF marker"))
		}
		return nil, nil
	case count != len(b.cols):
		return nil, badCopy("row field count is %d, expected %d", count, len(b.cols))
	}
	for i := range b.cols {
		b.column = i
		if b.vals[i], err = b.value(b.fields[b.cols[i]].Type); err != nil {
			return nil, err
		}
	}
	b.column = -1
	return b.vals, nil
}

func (b *binaryRows) value(t *value.Type) (value.Datum, error) {
	size, err := b.number32("unexpected EOF in COPY data")
	switch n := int(int32(size)); {
	case err != nil:
		return nil, err
	case n == -1:
		return nil, nil
	case n < 0:
		return nil, badCopy("invalid field size")
	case n > b.limit:
		return nil, pgerror.New(pgerror.ProgramLimitExceeded, "a value of COPY is longer than %d bytes", b.limit)
	}
	got, err := b.take(int(size))
	if err != nil {
		return nil, orElse(err, badCopy("unexpected EOF in COPY data"))
	}
	if b.encoding != nil {
		got, err = value.RecodeBinary(t, got, func(text []byte) ([]byte, error) {
			s, err := b.encoding.Decode(string(text))
			return []byte(s), err
		})
		if err != nil {
			return nil, err
		}
	}
	return value.ParseBinary(t, got)
}

func (b *binaryRows) place() string {
	place := ", line " + strconv.Itoa(b.number)
	if b.column >= 0 {
		place += ", column " + b.fields[b.cols[b.column]].Name
	}
	return place
}
