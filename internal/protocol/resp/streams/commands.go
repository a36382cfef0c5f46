package streams

import (
	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

const (
	group = "stream"

	readonly = command.Readonly
	write    = command.Write
	grow     = command.Write | command.DenyOOM
	fast     = command.Fast
	wait     = command.Blocking | command.MovableKeys
)

// Commands returns the commands about streams.
func Commands() []command.Command {
	row := func(name string, arity int, f command.Flags, since, summary string, prepare command.Prepare) command.Command {
		keys := command.OneKey
		if f&command.MovableKeys != 0 {
			keys = command.Keys{}
		}
		return command.Command{Name: name, Arity: arity, Flags: f, Keys: keys, Group: group, Since: since, Summary: summary, Prepare: prepare}
	}
	return []command.Command{
		row("xadd", -5, grow|fast|command.Fills, "5.0.0", "Append an entry to a stream", xadd),
		row("xlen", 2, readonly|fast, "5.0.0", "Return the number of entries of a stream", xlen),
		row("xrange", -4, readonly, "5.0.0", "Return the entries between two IDs", xrange),
		row("xrevrange", -4, readonly, "5.0.0", "Return the entries between two IDs, the last one first", xrevrange),
		row("xread", -4, readonly|wait, "5.0.0", "Return elements with IDs greater than the ones that are given, or wait for them", xread),
		row("xreadgroup", -7, write|wait, "5.0.0", "Give entries to a consumer of a group, or wait for them", xreadgroup),
		row("xack", -4, write|fast, "5.0.0", "Mark entries as acknowledged by a group", xack),
		row("xpending", -3, readonly, "5.0.0", "Return what is pending in a group", xpending),
		row("xclaim", -6, write|fast, "5.0.0", "Assign pending entries to another consumer", xclaim),
		row("xautoclaim", -6, write|fast, "6.2.0", "Assign entries that have been pending for long to another consumer", xautoclaim),
		row("xdel", -3, write|fast, "5.0.0", "Remove entries from a stream", xdel),
		row("xtrim", -4, write, "5.0.0", "Remove the first entries of a stream", xtrim),
		row("xsetid", -3, grow|fast|command.Fills, "5.0.0", "Set the last ID of a stream", xsetid),
		groupCommand(), infoCommand(),
	}
}

// container returns a command that has only subcommands, each about the stream named after the
// subcommand.
func container(name, summary string, subs ...command.Command) command.Command {
	return command.Command{Name: name, Arity: -2, Group: group, Since: "5.0.0", Summary: summary, Subs: subs}
}

// sub returns a row of a container.
func sub(name string, arity int, f command.Flags, since, summary string, prepare command.Prepare) command.Command {
	return command.Command{Name: name, Arity: arity, Flags: f, Keys: command.Keys{First: 2, Last: 2, Step: 1},
		Group: group, Since: since, Summary: summary, Prepare: prepare}
}

// help returns the row of a container's HELP, which replies with lines.
func help(name string, lines []string) command.Command {
	return command.Command{Name: name, Arity: 2, Flags: command.Loading | command.Stale, Group: group, Since: "5.0.0",
		Summary: "Show helpful text", Prepare: func(command.Conn, [][]byte) (command.Request, error) {
			return command.Told(func(w *respwire.Writer) {
				w.Array(len(lines))
				for _, line := range lines {
					w.Simple(line)
				}
			}), nil
		}}
}

// ask is a request on one stream.
type ask struct {
	cmd     broker.Command
	on      *streams.OnStream
	missing func(w *respwire.Writer) // writes the answer if the stream does not exist
	done    func(w *respwire.Writer) // writes the answer if there was no error
}

func (a *ask) Commands(dst []broker.Command) []broker.Command { return append(dst, a.cmd) }

func (a *ask) Reply(w *respwire.Writer) {
	switch {
	case a.on.Missing:
		a.missing(w)
	case a.on.Err != nil:
		command.Fail(w, a.on.Err)
	default:
		a.done(w)
	}
}

// late returns a request that fails with e only if the stream exists.
func late(key []byte, e error, missing func(w *respwire.Writer)) (command.Request, error) {
	look := &streams.Info{Entries: -1}
	look.Queue = string(key)
	return &ask{look, &look.OnStream, missing, func(w *respwire.Writer) { command.Fail(w, e) }}, nil
}

func tellZero(w *respwire.Writer) { w.Int(0) }

func tellNoKey(w *respwire.Writer) { w.Error(string(command.ErrNoKey)) }

func tellEmpty(w *respwire.Writer) { w.Array(0) }

// add is XADD.
type add struct{ streams.Add }

func xadd(_ command.Conn, args [][]byte) (command.Request, error) {
	a := &add{}
	o, n, err := trimOptions(args, true)
	if err != nil {
		return nil, err
	}
	fields := args[min(n+1, len(args)):]
	if len(fields) < 2 || len(fields)%2 != 0 {
		return nil, command.WrongNumber("xadd")
	}
	switch {
	case string(args[n]) == "*":
		a.How = streams.NextID
	case !o.seq:
		a.How, a.ID = streams.NextIn, o.id
	case o.id.IsZero():
		return nil, command.Error("ERR The ID specified in XADD must be greater than 0-0")
	default:
		a.How, a.ID = streams.GivenID, o.id
	}
	a.Queue, a.Create = string(args[1]), !o.noStream
	if o.given {
		a.Trim = &o.trim
	}
	a.Properties, a.Body = messageOf(fields)
	return a, nil
}

func (a *add) Commands(dst []broker.Command) []broker.Command { return append(dst, &a.Add) }

func (a *add) Reply(w *respwire.Writer) {
	switch {
	case a.Missing:
		w.Null()
	case a.Err != nil:
		command.Fail(w, a.Err)
	case a.Refused == streams.NotAbove:
		w.Error("ERR The ID specified in XADD is equal or smaller than the target stream top item")
	case a.Refused == streams.NoMoreIDs:
		w.Error("ERR The stream has exhausted the last possible ID, unable to add more items")
	default:
		writeID(w, a.Added)
	}
}

func xlen(_ command.Conn, args [][]byte) (command.Request, error) {
	look := &streams.Info{Entries: -1}
	look.Queue = string(args[1])
	return &ask{look, &look.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(look.Len)) }}, nil
}

func xdel(_ command.Conn, args [][]byte) (command.Request, error) {
	d := &streams.Delete{}
	d.Queue = string(args[1])
	for _, arg := range args[2:] {
		id, err := strictID(arg, 0)
		if err != nil {
			return late(args[1], err, tellZero)
		}
		d.IDs = append(d.IDs, id)
	}
	return &ask{d, &d.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(d.Deleted)) }}, nil
}

func xtrim(_ command.Conn, args [][]byte) (command.Request, error) {
	o, _, err := trimOptions(args, false)
	if err != nil {
		return nil, err
	}
	t := &streams.Trim{Trim: o.trim}
	t.Queue = string(args[1])
	return &ask{t, &t.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(t.Trimmed)) }}, nil
}

func xsetid(_ command.Conn, args [][]byte) (command.Request, error) {
	last, err := strictID(args[2], 0)
	if err != nil {
		return nil, err
	}
	t := &streams.Set{Last: last, Added: -1}
	t.Queue = string(args[1])
	for i := 3; i < len(args); i += 2 {
		more := i+1 < len(args)
		switch {
		case command.Is(args[i], "ENTRIESADDED") && more:
			n, ok := command.Integer(args[i+1])
			if !ok {
				return nil, command.ErrNotInteger
			}
			if t.Added = n; n < 0 {
				return nil, command.Error("ERR entries_added must be positive")
			}
		case command.Is(args[i], "MAXDELETEDID") && more:
			if t.MaxDeleted, err = strictID(args[i+1], 0); err != nil {
				return nil, err
			}
			if last.Before(t.MaxDeleted) {
				return nil, command.Error("ERR The ID specified in XSETID is smaller than the provided max_deleted_entry_id")
			}
		default:
			return nil, command.ErrSyntax
		}
	}
	return &ask{t, &t.OnStream, tellNoKey, func(w *respwire.Writer) {
		if e := setRefusals[t.Refused]; e != "" {
			w.Error(string(e))
			return
		}
		w.OK()
	}}, nil
}

var setRefusals = map[streams.SetRefusal]command.Error{
	streams.BelowEntries:     "ERR The ID specified in XSETID is smaller than the target stream top item",
	streams.FewerThanEntries: "ERR The entries_added specified in XSETID is smaller than the target stream length",
}

// addOptions holds the options before the id of XADD, or those of XTRIM.
type addOptions struct {
	noStream bool
	given    bool // a trim was given
	trim     stream.Trim
	id       stream.ID // of XADD
	seq      bool      // id includes its sequence number
}

// The maximum number of entries removed when only whole blocks are trimmed and LIMIT is not given.
const trimLimit = 100 * 100

// trimOptions parses the options of XADD up to the id, whose position is n, or all options of
// XTRIM.
func trimOptions(args [][]byte, add bool) (o addOptions, n int, err error) {
	limited := false
	i := 2
loop:
	for ; i < len(args); i++ {
		more := len(args) - 1 - i
		switch opt := args[i]; {
		case add && string(opt) == "*":
			break loop
		case (command.Is(opt, "MAXLEN") || command.Is(opt, "MINID")) && more > 0:
			if o.given {
				return o, i, command.Error("ERR syntax error, MAXLEN and MINID options at the same time are not compatible")
			}
			o.given, o.trim.ByID = true, command.Is(opt, "MINID")
			if sign := string(args[i+1]); more >= 2 && (sign == "~" || sign == "=") {
				o.trim.Whole = sign == "~"
				i++
			}
			if err = o.bound(args[i+1]); err != nil {
				return o, i, err
			}
			i++
		case command.Is(opt, "LIMIT") && more > 0:
			limit, ok := command.Integer(args[i+1])
			switch {
			case !ok:
				return o, i, command.ErrNotInteger
			case limit < 0:
				return o, i, command.Error("ERR The LIMIT argument must be >= 0.")
			}
			limited, o.trim.Limit = true, int(limit)
			i++
		case add && command.Is(opt, "NOMKSTREAM"):
			o.noStream = true
		case add:
			if o.id, o.seq, err = newID(opt); err != nil {
				return o, i, err
			}
			break loop
		default:
			return o, i, command.ErrSyntax
		}
	}
	switch {
	case o.trim.Limit > 0 && !o.given:
		return o, i, command.Error("ERR syntax error, LIMIT cannot be used without specifying a trimming strategy")
	case !add && !o.given:
		return o, i, command.Error("ERR syntax error, XTRIM must be called with a trimming strategy")
	case limited && !o.trim.Whole:
		return o, i, command.Error("ERR syntax error, LIMIT cannot be used without the special ~ option")
	case o.trim.Whole && !limited:
		o.trim.Limit = trimLimit
	}
	return o, i, nil
}

// bound parses the threshold of a trim.
func (o *addOptions) bound(arg []byte) (err error) {
	if o.trim.ByID {
		o.trim.MinID, err = strictID(arg, 0)
		return err
	}
	n, ok := command.Integer(arg)
	switch {
	case !ok:
		return command.ErrNotInteger
	case n < 0:
		return command.Error("ERR The MAXLEN argument must be >= 0.")
	}
	o.trim.MaxLen = int(n)
	return nil
}
