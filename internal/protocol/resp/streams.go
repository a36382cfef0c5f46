package resp

import (
	"fiveways/internal/broker"
	"fiveways/internal/core/stream"
	"fiveways/internal/protocol/resp/respwire"
)

// streamCommands are those of streams.
func streamCommands() []command {
	def := func(name string, arity int, f flags, since, summary string, prepare func(*conn, [][]byte) (request, error)) command {
		return command{name: name, arity: arity, flags: f, keys: oneKey, group: "stream", since: since, summary: summary, prepare: prepare}
	}
	read := def("xread", -4, readonly|blocking|movableKeys, "5.0.0", "Return elements with IDs greater than the ones that are given, or wait for them", xread)
	readGroup := def("xreadgroup", -7, write|blocking|movableKeys, "5.0.0", "Give entries to a consumer of a group, or wait for them", xreadgroup)
	read.keys, readGroup.keys = keys{}, keys{}
	return []command{
		def("xadd", -5, write|denyOOM|fast, "5.0.0", "Append an entry to a stream", xadd),
		def("xlen", 2, readonly|fast, "5.0.0", "Return the number of entries of a stream", xlen),
		def("xrange", -4, readonly, "5.0.0", "Return the entries between two IDs", xrange),
		def("xrevrange", -4, readonly, "5.0.0", "Return the entries between two IDs, the last one first", xrevrange),
		read, readGroup,
		def("xack", -4, write|fast, "5.0.0", "Mark entries as acknowledged by a group", xack),
		def("xpending", -3, readonly, "5.0.0", "Return what is pending in a group", xpending),
		def("xclaim", -6, write|fast, "5.0.0", "Make pending entries those of another consumer", xclaim),
		def("xautoclaim", -6, write|fast, "6.2.0", "Make entries that are pending for long those of another consumer", xautoclaim),
		def("xdel", -3, write|fast, "5.0.0", "Remove entries from a stream", xdel),
		def("xtrim", -4, write, "5.0.0", "Remove the first entries of a stream", xtrim),
		def("xsetid", -3, write|denyOOM|fast, "5.0.0", "Set the last ID of a stream", xsetid),
		groupCommand(), infoCommand(),
	}
}

// streamAsk is a request about one stream.
type streamAsk struct {
	cmd     broker.Command
	on      *broker.OnStream
	missing func(w *respwire.Writer) // the answer when there is no stream
	done    func(w *respwire.Writer) // the answer when there was no error
}

func (a *streamAsk) commands(dst []broker.Command) []broker.Command { return append(dst, a.cmd) }

func (a *streamAsk) reply(w *respwire.Writer) {
	switch {
	case a.on.Missing:
		a.missing(w)
	case a.on.Err != nil:
		replyWith(w, a.on.Err)
	default:
		a.done(w)
	}
}

// late is an error that the client is told only when the stream is there.
func late(key []byte, e error, missing func(w *respwire.Writer)) (request, error) {
	look := &broker.StreamInfo{Entries: -1}
	look.Queue = string(key)
	return &streamAsk{look, &look.OnStream, missing, func(w *respwire.Writer) { replyWith(w, e) }}, nil
}

func tellZero(w *respwire.Writer) { w.Int(0) }

func tellNoKey(w *respwire.Writer) { w.Error(string(errNoKey)) }

func tellEmpty(w *respwire.Writer) { w.Array(0) }

// add is XADD.
type add struct{ broker.StreamAdd }

func xadd(_ *conn, args [][]byte) (request, error) {
	a := &add{}
	o, n, err := trimOptions(args, true)
	if err != nil {
		return nil, err
	}
	fields := args[min(n+1, len(args)):]
	if len(fields) < 2 || len(fields)%2 != 0 {
		return nil, wrongNumber("xadd")
	}
	switch {
	case string(args[n]) == "*":
		a.How = broker.NextID
	case !o.seq:
		a.How, a.ID = broker.NextIn, o.id
	case o.id.IsZero():
		return nil, replyError("ERR The ID specified in XADD must be greater than 0-0")
	default:
		a.How, a.ID = broker.GivenID, o.id
	}
	a.Queue, a.Create = string(args[1]), !o.noStream
	if o.given {
		a.Trim = &o.trim
	}
	a.Properties, a.Body = messageOf(fields)
	return a, nil
}

func (a *add) commands(dst []broker.Command) []broker.Command { return append(dst, &a.StreamAdd) }

func (a *add) reply(w *respwire.Writer) {
	switch {
	case a.Missing:
		w.Null()
	case a.Err != nil:
		replyWith(w, a.Err)
	case a.Refused == broker.NotAbove:
		w.Error("ERR The ID specified in XADD is equal or smaller than the target stream top item")
	case a.Refused == broker.NoMoreIDs:
		w.Error("ERR The stream has exhausted the last possible ID, unable to add more items")
	default:
		writeID(w, a.Added)
	}
}

func xlen(_ *conn, args [][]byte) (request, error) {
	look := &broker.StreamInfo{Entries: -1}
	look.Queue = string(args[1])
	return &streamAsk{look, &look.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(look.Len)) }}, nil
}

func xdel(_ *conn, args [][]byte) (request, error) {
	d := &broker.StreamDelete{}
	d.Queue = string(args[1])
	for _, arg := range args[2:] {
		id, err := strictID(arg, 0)
		if err != nil {
			return late(args[1], err, tellZero)
		}
		d.IDs = append(d.IDs, id)
	}
	return &streamAsk{d, &d.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(d.Deleted)) }}, nil
}

func xtrim(_ *conn, args [][]byte) (request, error) {
	o, _, err := trimOptions(args, false)
	if err != nil {
		return nil, err
	}
	t := &broker.StreamTrim{Trim: o.trim}
	t.Queue = string(args[1])
	return &streamAsk{t, &t.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(t.Trimmed)) }}, nil
}

func xsetid(_ *conn, args [][]byte) (request, error) {
	last, err := strictID(args[2], 0)
	if err != nil {
		return nil, err
	}
	t := &broker.StreamSet{Last: last, Added: -1}
	t.Queue = string(args[1])
	for i := 3; i < len(args); i += 2 {
		more := i+1 < len(args)
		switch {
		case is(args[i], "ENTRIESADDED") && more:
			n, ok := integer(args[i+1])
			if !ok {
				return nil, errNotInteger
			}
			if t.Added = n; n < 0 {
				return nil, replyError("ERR entries_added must be positive")
			}
		case is(args[i], "MAXDELETEDID") && more:
			if t.MaxDeleted, err = strictID(args[i+1], 0); err != nil {
				return nil, err
			}
			if last.Before(t.MaxDeleted) {
				return nil, replyError("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
			}
		default:
			return nil, errSyntax
		}
	}
	return &streamAsk{t, &t.OnStream, tellNoKey, func(w *respwire.Writer) {
		if e := setRefusals[t.Refused]; e != "" {
			w.Error(string(e))
			return
		}
		w.OK()
	}}, nil
}

var setRefusals = map[broker.SetRefusal]replyError{
	broker.BelowEntries:     "ERR The ID specified in XSETID is smaller than the target stream top item",
	broker.FewerThanEntries: "ERR The entries_added specified in XSETID is smaller than the target stream length",
}

// addOptions is what may stand before the id of XADD, or makes XTRIM.
type addOptions struct {
	noStream bool
	given    bool // the trim
	trim     stream.Trim
	id       stream.ID // of XADD
	seq      bool      // id has its number, too
}

// The number of entries that go at most when whole blocks do and LIMIT says nothing.
const trimLimit = 100 * 100

// trimOptions reads the options of XADD, up to the id, the place of which is n, or all those of XTRIM.
func trimOptions(args [][]byte, add bool) (o addOptions, n int, err error) {
	limited := false
	i := 2
loop:
	for ; i < len(args); i++ {
		more := len(args) - 1 - i
		switch opt := args[i]; {
		case add && string(opt) == "*":
			break loop
		case (is(opt, "MAXLEN") || is(opt, "MINID")) && more > 0:
			if o.given {
				return o, i, replyError("ERR syntax error, MAXLEN and MINID options at the same time are not compatible")
			}
			o.given, o.trim.ByID = true, is(opt, "MINID")
			if sign := string(args[i+1]); more >= 2 && (sign == "~" || sign == "=") {
				o.trim.Whole = sign == "~"
				i++
			}
			if err = o.bound(args[i+1]); err != nil {
				return o, i, err
			}
			i++
		case is(opt, "LIMIT") && more > 0:
			limit, ok := integer(args[i+1])
			switch {
			case !ok:
				return o, i, errNotInteger
			case limit < 0:
				return o, i, replyError("ERR The LIMIT argument must be >= 0.")
			}
			limited, o.trim.Limit = true, int(limit)
			i++
		case add && is(opt, "NOMKSTREAM"):
			o.noStream = true
		case add:
			if o.id, o.seq, err = newID(opt); err != nil {
				return o, i, err
			}
			break loop
		default:
			return o, i, errSyntax
		}
	}
	switch {
	case o.trim.Limit > 0 && !o.given:
		return o, i, replyError("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
	case !add && !o.given:
		return o, i, replyError("ERR syntax error, XTRIM must be called with a trimming strategy")
	case limited && !o.trim.Whole:
		return o, i, replyError("ERR syntax error, LIMIT cannot be used without the special ~ option")
	case o.trim.Whole && !limited:
		o.trim.Limit = trimLimit
	}
	return o, i, nil
}

// bound reads how far to trim.
func (o *addOptions) bound(arg []byte) (err error) {
	if o.trim.ByID {
		o.trim.MinID, err = strictID(arg, 0)
		return err
	}
	n, ok := integer(arg)
	switch {
	case !ok:
		return errNotInteger
	case n < 0:
		return replyError("ERR The MAXLEN argument must be >= 0.")
	}
	o.trim.MaxLen = int(n)
	return nil
}
