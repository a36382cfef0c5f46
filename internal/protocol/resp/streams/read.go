package streams

import (
	"bytes"
	"errors"
	"math"
	"time"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

func xrange(_ command.Conn, args [][]byte) (command.Request, error) {
	return entryRange(args, args[2], args[3], false)
}

func xrevrange(_ command.Conn, args [][]byte) (command.Request, error) {
	return entryRange(args, args[3], args[2], true)
}

// entryRange implements XRANGE and XREVRANGE.
func entryRange(args [][]byte, from, to []byte, back bool) (command.Request, error) {
	r := &streams.Range{Back: back}
	r.Queue = string(args[1])
	var err error
	if r.From, r.To, err = interval(from, to); err != nil {
		return nil, err
	}
	count := int64(-1)
	for i := 4; i < len(args); i += 2 {
		if !command.Is(args[i], "COUNT") || i+1 == len(args) {
			return nil, command.ErrSyntax
		}
		if count, err = countOf(args[i+1]); err != nil {
			return nil, err
		}
	}
	r.Max = int(min(max(count, 0), math.MaxInt32))
	if count == 0 {
		r.Max = 1 // check whether the stream exists
	}
	return many{&ask{r, &r.OnStream, tellEmpty, func(w *respwire.Writer) {
		if count == 0 {
			w.NullArray()
			return
		}
		writeEntries(w, r.Entries)
	}}, r.Max}, nil
}

// many is a request for several entries of one stream.
type many struct {
	command.Request
	most int // 0: all
}

// Bulk implements command.Bulky.
func (r many) Bulk() int { return command.AtMost(r.most) }

// countOf parses a number of entries. A negative number becomes 0.
func countOf(arg []byte) (int64, error) {
	n, ok := command.Integer(arg)
	if !ok {
		return 0, command.ErrNotInteger
	}
	return max(n, 0), nil
}

// reading holds the options of XREAD and XREADGROUP.
type reading struct {
	count           int
	block           int64 // ms; 0: no limit, negative: no wait
	group, consumer string
	grouped, noAck  bool
	keys, ids       [][]byte
}

func parseReading(args [][]byte, ofGroup bool) (r reading, err error) {
	r.block = -1
	for i := 1; i < len(args) && r.keys == nil; i++ {
		more := len(args) - 1 - i
		switch opt := args[i]; {
		case command.Is(opt, "BLOCK") && more > 0:
			i++
			if r.block, err = milliseconds(args[i]); err != nil {
				return r, err
			}
		case command.Is(opt, "COUNT") && more > 0:
			i++
			n, err := countOf(args[i])
			if err != nil {
				return r, err
			}
			r.count = int(min(n, math.MaxInt32))
		case command.Is(opt, "STREAMS") && more > 0:
			if more%2 != 0 {
				return r, errUnbalanced
			}
			r.keys, r.ids = args[i+1:i+1+more/2], args[i+1+more/2:]
		case command.Is(opt, "GROUP") && more >= 2:
			if !ofGroup {
				return r, command.Error("ERR The GROUP option is only supported by XREADGROUP. You called XREAD instead.")
			}
			r.grouped, r.group, r.consumer = true, string(args[i+1]), string(args[i+2])
			i += 2
		case command.Is(opt, "NOACK"):
			if !ofGroup {
				return r, command.Error("ERR The NOACK option is only supported by XREADGROUP. You called XREAD instead.")
			}
			r.noAck = true
		default:
			return r, command.ErrSyntax
		}
	}
	switch {
	case r.keys == nil:
		return r, command.ErrSyntax
	case ofGroup && !r.grouped:
		return r, command.Error("ERR Missing GROUP option for XREADGROUP")
	}
	return r, nil
}

// milliseconds parses a timeout.
func milliseconds(arg []byte) (int64, error) {
	n, ok := command.Integer(arg)
	switch {
	case !ok:
		return 0, command.Error("ERR timeout is not an integer or out of range")
	case n < 0:
		return 0, command.ErrNegative
	case n > math.MaxInt64/int64(time.Millisecond)/2:
		return 0, command.Error("ERR timeout is out of range")
	}
	return n, nil
}

// Bulk implements command.Bulky.
func (r *reading) Bulk() int { return command.AtMost(r.count * len(r.keys)) }

func (r *reading) timeout() time.Duration { return time.Duration(r.block) * time.Millisecond }

const (
	errUnbalanced command.Error = "ERR Unbalanced XREAD list of streams: for each stream key an ID or '$' must be specified." // of XREADGROUP, too
	errOnlyGroup  command.Error = "ERR The > ID can be specified only when calling XREADGROUP using the GROUP <group> <consumer> option."
	errNotGroup   command.Error = "ERR The $ ID is meaningless in the context of XREADGROUP: you want to read the history of this consumer by specifying " +
		"a proper ID, or use the > ID to get new messages. The $ ID would just return an empty result set."
)

// plainRead is XREAD.
type plainRead struct {
	reading
	reads []streams.Read
	errs  []error // of the ids: reported only if no earlier stream and not the stream itself failed
}

func xread(_ command.Conn, args [][]byte) (command.Request, error) {
	o, err := parseReading(args, false)
	if err != nil {
		return nil, err
	}
	r := &plainRead{reading: o, reads: make([]streams.Read, len(o.keys)), errs: make([]error, len(o.keys))}
	for i := range r.reads {
		read := &r.reads[i]
		read.Queue, read.Max = string(o.keys[i]), o.count
		switch id := string(o.ids[i]); id {
		case "$":
			read.Latest = true
		case ">":
			r.errs[i] = errOnlyGroup
		default:
			read.After, r.errs[i] = strictID(o.ids[i], 0)
		}
	}
	r.own()
	return r, nil
}

// own copies the keys that the answer names, because more input is read while the request waits.
func (r *reading) own() {
	r.ids = nil
	if r.block >= 0 {
		keys := make([][]byte, len(r.keys))
		for i := range keys {
			keys[i] = bytes.Clone(r.keys[i])
		}
		r.keys = keys
	}
}

func (r *plainRead) Commands(dst []broker.Command) []broker.Command {
	for i := range r.reads {
		dst = append(dst, &r.reads[i])
	}
	return dst
}

func (r *plainRead) Wait() ([]broker.Command, time.Duration) {
	if r.block < 0 {
		return nil, 0
	}
	for i := range r.reads {
		r.reads[i].Create = true
	}
	return r.Commands(nil), r.timeout()
}

// failed returns the error of the first stream that has one.
func (r *plainRead) failed() error {
	for i := range r.reads {
		switch read := &r.reads[i]; {
		case read.Err != nil && !read.Missing:
			return read.Err
		case r.errs[i] != nil:
			return r.errs[i]
		}
	}
	return nil
}

func (r *plainRead) Answered() bool { return r.failed() != nil || some(r, len(r.keys)) > 0 }

func (r *plainRead) entries(i int) (list []streams.Entry, told bool) {
	list = r.reads[i].Entries
	return list, len(list) > 0
}

func (r *plainRead) Reply(w *respwire.Writer) { replyRead(w, r, r.keys) }

// read is an XREAD or XREADGROUP that has run.
type read interface {
	failed() error
	entries(i int) (list []streams.Entry, told bool) // of stream i; told: the answer has it
}

// some returns how many of n streams the answer includes.
func some(r read, n int) (told int) {
	for i := range n {
		if _, ok := r.entries(i); ok {
			told++
		}
	}
	return told
}

func replyRead(w *respwire.Writer, r read, keys [][]byte) {
	n := some(r, len(keys))
	switch err := r.failed(); {
	case err != nil:
		command.Fail(w, err)
		return
	case n == 0:
		w.NullArray()
		return
	}
	streamsBegin(w, n)
	for i, key := range keys {
		if list, told := r.entries(i); told {
			streamBegin(w, key)
			writeEntries(w, list)
		}
	}
}

// streamsBegin begins the answer of XREAD, and streamBegin the part of one stream.
func streamsBegin(w *respwire.Writer, n int) {
	if w.RESP3 {
		w.Map(n)
		return
	}
	w.Array(n)
}

func streamBegin(w *respwire.Writer, key []byte) {
	if !w.RESP3 {
		w.Array(2)
	}
	w.Bulk(key)
}

// groupRead is XREADGROUP.
type groupRead struct {
	reading
	reads streams.GroupReads
	looks []streams.GroupPending // replaces the reads if an id is wrong
	errs  []error
}

func xreadgroup(_ command.Conn, args [][]byte) (command.Request, error) {
	o, err := parseReading(args, true)
	if err != nil {
		return nil, err
	}
	r := &groupRead{reading: o, errs: make([]error, len(o.keys))}
	wrong := false
	for i := range o.keys {
		read := &streams.GroupRead{Consumer: o.consumer, Max: o.count, NoAck: o.noAck}
		read.Queue, read.Group = string(o.keys[i]), o.group
		switch id := string(o.ids[i]); id {
		case "$":
			r.errs[i] = errNotGroup
		case ">":
		default:
			read.History = true
			if read.After, r.errs[i] = strictID(o.ids[i], 0); read.After == stream.MaxID {
				read.History = false
			}
		}
		wrong = wrong || r.errs[i] != nil
		r.reads.Reads = append(r.reads.Reads, read)
	}
	if wrong {
		r.looks = make([]streams.GroupPending, len(o.keys))
		for i := range r.looks {
			r.looks[i].Queue, r.looks[i].Group = string(o.keys[i]), o.group
		}
	}
	r.own()
	return r, nil
}

func (r *groupRead) Commands(dst []broker.Command) []broker.Command {
	if r.looks != nil {
		for i := range r.looks {
			dst = append(dst, &r.looks[i])
		}
		return dst
	}
	if len(r.reads.Reads) == 1 {
		return append(dst, r.reads.Reads[0])
	}
	return append(dst, &r.reads)
}

func (r *groupRead) Wait() (all []broker.Command, timeout time.Duration) {
	if r.block < 0 || r.looks != nil {
		return nil, 0
	}
	for _, read := range r.reads.Reads {
		if read.History {
			return nil, 0
		}
		all = append(all, read)
	}
	return all, r.timeout()
}

// failed returns the error of the first stream that has one.
func (r *groupRead) failed() error {
	for i := range r.keys {
		on, none := &r.reads.Reads[i].OnStream, r.reads.Reads[i].NoGroup
		if r.looks != nil {
			on, none = &r.looks[i].OnStream, r.looks[i].NoGroup
		}
		waited := r.reads.Reads[i].Runs > 1
		switch {
		case none && waited:
			return command.Error("NOGROUP the consumer group this client was blocked on no longer exists")
		case waited && (on.Missing || errors.Is(on.Err, failure.ErrWrongKind)):
			return command.Error("UNBLOCKED the stream key no longer exists")
		case on.Missing || none:
			return command.Errorf("NOGROUP No such key '%s' or consumer group '%s' in XREADGROUP with GROUP option", r.keys[i], r.group)
		case on.Err != nil:
			return on.Err
		case r.errs[i] != nil:
			return r.errs[i]
		}
	}
	return r.reads.Err
}

func (r *groupRead) Answered() bool { return r.failed() != nil || some(r, len(r.keys)) > 0 }

func (r *groupRead) entries(i int) (list []streams.Entry, told bool) {
	read := r.reads.Reads[i]
	return read.Entries, read.History || len(read.Entries) > 0
}

func (r *groupRead) Reply(w *respwire.Writer) { replyRead(w, r, r.keys) }
