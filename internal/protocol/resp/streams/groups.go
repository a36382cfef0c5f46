package streams

import (
	"math"
	"strconv"

	"fiveways.dev/fiveways/internal/broker"
	"fiveways.dev/fiveways/internal/broker/streams"
	"fiveways.dev/fiveways/internal/core/stream"
	"fiveways.dev/fiveways/internal/protocol/resp/command"
	"fiveways.dev/fiveways/internal/protocol/resp/respwire"
)

// groupCommand returns XGROUP with its subcommands.
func groupCommand() command.Command {
	return container("xgroup", "A container for consumer groups commands",
		sub("xgroup|create", -5, grow, "5.0.0", "Create a consumer group", xgroupSet),
		sub("xgroup|setid", -5, write, "5.0.0", "Set what a consumer group was given last", xgroupSet),
		sub("xgroup|destroy", 4, write, "5.0.0", "Destroy a consumer group", xgroupDestroy),
		sub("xgroup|createconsumer", 5, grow, "6.2.0", "Create a consumer in a consumer group", xgroupJoin),
		sub("xgroup|delconsumer", 5, write, "5.0.0", "Delete a consumer from a consumer group", xgroupLeave),
		help("xgroup|help", groupHelp))
}

var groupHelp = []string{
	"XGROUP <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
	"CREATE <key> <groupname> <id|$> [option]",
	"    Create a new consumer group. Options are:",
	"    * MKSTREAM",
	"      Create the empty stream if it does not exist.",
	"    * ENTRIESREAD entries_read",
	"      Set the group's entries_read counter (internal use).",
	"CREATECONSUMER <key> <groupname> <consumer>",
	"    Create a new consumer in the specified group.",
	"DELCONSUMER <key> <groupname> <consumer>",
	"    Remove the specified consumer.",
	"DESTROY <key> <groupname>",
	"    Remove the specified group.",
	"SETID <key> <groupname> <id|$> [ENTRIESREAD entries_read]",
	"    Set the current group ID and entries_read counter.",
	"HELP",
	"    Prints this help.",
}

const errGroupNeedsKey command.Error = "ERR The XGROUP subcommand requires the key to exist. " +
	"Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."

func tellNeedsKey(w *respwire.Writer) { w.Error(string(errGroupNeedsKey)) }

func noSuchGroup(key, group []byte) command.Error {
	return command.Errorf("NOGROUP No such consumer group '%s' for key name '%s'", group, key)
}

func noKeyOrGroup(key, group []byte) command.Error {
	return command.Errorf("NOGROUP No such key '%s' or consumer group '%s'", key, group)
}

// groupAsk is an ask about a group, with an error for a missing group.
type groupAsk struct {
	ask
	none    *bool
	noGroup command.Error // also sent if the stream does not exist, unless missing is set
}

func askGroup(cmd broker.Command, on *streams.OnGroup, noGroup command.Error, done func(w *respwire.Writer)) *groupAsk {
	return &groupAsk{ask{cmd, &on.OnStream, func(w *respwire.Writer) { w.Error(string(noGroup)) }, done}, &on.NoGroup, noGroup}
}

func (a *groupAsk) Reply(w *respwire.Writer) {
	if !a.on.Missing && a.on.Err == nil && *a.none {
		w.Error(string(a.noGroup))
		return
	}
	a.ask.Reply(w)
}

// lateInGroup returns a request that fails with e only if the group exists.
func lateInGroup(key, group []byte, e error, noGroup command.Error) *groupAsk {
	look := &streams.GroupPending{}
	look.Queue, look.Group = string(key), string(group)
	return askGroup(look, &look.OnGroup, noGroup, func(w *respwire.Writer) { command.Fail(w, e) })
}

// xgroupSet implements XGROUP CREATE and XGROUP SETID.
func xgroupSet(_ command.Conn, args [][]byte) (command.Request, error) {
	key, group := args[2], args[3]
	t := &streams.GroupSet{Read: stream.Unknown, Move: command.Is(args[1], "SETID")}
	t.Queue, t.Group = string(key), string(group)
	for i := 5; i < len(args); i++ {
		switch {
		case !t.Move && command.Is(args[i], "MKSTREAM"):
			t.Create = true
		case command.Is(args[i], "ENTRIESREAD") && i+1 < len(args):
			n, ok := command.Integer(args[i+1])
			switch {
			case !ok:
				return nil, command.ErrNotInteger
			case n < 0 && n != stream.Unknown:
				return nil, command.Error("ERR value for ENTRIESREAD must be positive or -1")
			}
			t.Read = n
			i++
		default:
			return nil, command.SubSyntax(args)
		}
	}
	var err error
	switch t.Latest = string(args[4]) == "$"; {
	case len(args) > 8 || t.Move && len(args) > 7: // an option is repeated
		err = command.SubSyntax(args)
	case t.Latest:
	case t.Move:
		t.Last, err = looseID(args[4], 0)
	default:
		t.Last, err = strictID(args[4], 0)
	}
	switch missing := tellNeedsKey; {
	case err != nil && t.Move:
		a := lateInGroup(key, group, err, noSuchGroup(key, group))
		a.missing = missing
		return a, nil
	case err != nil:
		if t.Create {
			missing = func(w *respwire.Writer) { command.Fail(w, err) }
		}
		return late(key, err.(command.Error), missing)
	default:
		a := askGroup(t, &t.OnGroup, noSuchGroup(key, group), func(w *respwire.Writer) {
			if t.Exists {
				w.Error("BUSYGROUP Consumer Group name already exists")
				return
			}
			w.OK()
		})
		a.missing = missing
		return a, nil
	}
}

func xgroupDestroy(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.GroupDrop{}
	t.Queue, t.Group = string(args[2]), string(args[3])
	return &ask{t, &t.OnStream, tellNeedsKey, func(w *respwire.Writer) {
		if t.NoGroup {
			w.Int(0)
			return
		}
		w.Int(1)
	}}, nil
}

func xgroupJoin(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.GroupJoin{Consumer: string(args[4])}
	t.Queue, t.Group = string(args[2]), string(args[3])
	a := askGroup(t, &t.OnGroup, noSuchGroup(args[2], args[3]), func(w *respwire.Writer) {
		if t.Made {
			w.Int(1)
			return
		}
		w.Int(0)
	})
	a.missing = tellNeedsKey
	return a, nil
}

func xgroupLeave(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.GroupLeave{Consumer: string(args[4])}
	t.Queue, t.Group = string(args[2]), string(args[3])
	a := askGroup(t, &t.OnGroup, noSuchGroup(args[2], args[3]), func(w *respwire.Writer) { w.Int(int64(t.Pending)) })
	a.missing = tellNeedsKey
	return a, nil
}

func xack(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.GroupAck{}
	t.Queue, t.Group = string(args[1]), string(args[2])
	for _, arg := range args[3:] {
		id, err := strictID(arg, 0)
		if err != nil {
			a := lateInGroup(args[1], args[2], err, "")
			return &ackAsk{ask{a.cmd, a.on, tellZero, a.done}, a.none}, nil
		}
		t.IDs = append(t.IDs, id)
	}
	return &ackAsk{ask{t, &t.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(t.Acked)) }}, &t.NoGroup}, nil
}

// ackAsk is an ask that treats a missing group as empty.
type ackAsk struct {
	ask
	none *bool
}

func (a *ackAsk) Reply(w *respwire.Writer) {
	if !a.on.Missing && a.on.Err == nil && *a.none {
		w.Int(0)
		return
	}
	a.ask.Reply(w)
}

func xpending(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.GroupPending{}
	t.Queue, t.Group = string(args[1]), string(args[2])
	none := noKeyOrGroup(args[1], args[2])
	if len(args) == 3 {
		return askGroup(t, &t.OnGroup, none, func(w *respwire.Writer) { writePendingSummary(w, t) }), nil
	}
	if len(args) < 6 || len(args) > 9 {
		return nil, command.ErrSyntax
	}
	t.List = true
	at := 3
	var ok bool
	if command.Is(args[3], "IDLE") {
		if t.MinIdle, ok = command.Integer(args[4]); !ok {
			return nil, command.ErrNotInteger
		}
		if len(args) < 8 {
			return nil, command.ErrSyntax
		}
		at = 5
	}
	count, err := countOf(args[at+2])
	if err == nil {
		t.Max = int(min(count, math.MaxInt32))
		t.From, t.To, err = interval(args[at], args[at+1])
	}
	if err != nil {
		return nil, err
	}
	if at+3 < len(args) {
		t.OfConsumer, t.Consumer = true, string(args[at+3])
	}
	return askGroup(t, &t.OnGroup, none, func(w *respwire.Writer) {
		w.Array(len(t.Entries))
		for i := range t.Entries {
			p := &t.Entries[i]
			w.Array(4)
			writeID(w, p.ID)
			w.BulkString(p.Consumer)
			w.Int(p.Idle)
			w.Int(int64(p.Count))
		}
	}), nil
}

func writePendingSummary(w *respwire.Writer, t *streams.GroupPending) {
	w.Array(4)
	w.Int(int64(t.Total))
	if t.Total == 0 {
		w.Null()
		w.Null()
		w.NullArray()
		return
	}
	writeID(w, t.First)
	writeID(w, t.Last)
	w.Array(len(t.ByConsumer))
	for _, c := range t.ByConsumer {
		w.Array(2)
		w.BulkString(c.Name)
		w.BulkString(strconv.Itoa(c.Pending))
	}
}

func xclaim(_ command.Conn, args [][]byte) (command.Request, error) {
	none := noKeyOrGroup(args[1], args[2])
	t := &streams.GroupClaim{Consumer: string(args[3]), Time: -1, Count: -1}
	t.Queue, t.Group = string(args[1]), string(args[2])
	if err := claimOptions(t, args); err != nil {
		return lateInGroup(args[1], args[2], err, none), nil
	}
	return many{askGroup(t, &t.OnGroup, none, func(w *respwire.Writer) { writeClaimed(w, t.Entries, t.JustIDs) }), len(t.IDs)}, nil
}

// claimOptions parses the arguments of XCLAIM from the minimum idle time on.
func claimOptions(t *streams.GroupClaim, args [][]byte) error {
	idle, ok := command.Integer(args[4])
	if !ok {
		return command.Error("ERR Invalid min-idle-time argument for XCLAIM")
	}
	t.MinIdle = max(idle, 0)
	i := 5
	for ; i < len(args); i++ {
		id, err := strictID(args[i], 0)
		if err != nil {
			break
		}
		t.IDs = append(t.IDs, id)
	}
	for ; i < len(args); i++ {
		more := i+1 < len(args)
		number := func(name string) (n int64, err error) {
			i++
			n, ok := command.Integer(args[i])
			if !ok {
				err = command.Errorf("ERR Invalid %s option argument for XCLAIM", name)
			}
			return n, err
		}
		var err error
		switch opt := args[i]; {
		case command.Is(opt, "FORCE"):
			t.Force = true
		case command.Is(opt, "JUSTID"):
			t.JustIDs = true
		case command.Is(opt, "IDLE") && more:
			t.Time = -1
			t.Idle, err = number("IDLE")
		case command.Is(opt, "TIME") && more:
			t.Idle = 0
			t.Time, err = number("TIME")
		case command.Is(opt, "RETRYCOUNT") && more:
			t.Count, err = number("RETRYCOUNT")
		case command.Is(opt, "LASTID") && more:
			i++
			t.Last, err = strictID(args[i], 0)
		default:
			err = command.Errorf("ERR Unrecognized XCLAIM option '%s'", opt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeClaimed writes the claimed entries.
func writeClaimed(w *respwire.Writer, list []streams.Entry, justIDs bool) {
	if !justIDs {
		writeEntries(w, list)
		return
	}
	w.Array(len(list))
	for i := range list {
		writeID(w, list[i].ID)
	}
}

// mostSwept is the largest COUNT of XAUTOCLAIM.
const mostSwept = math.MaxInt64 / 16

func xautoclaim(_ command.Conn, args [][]byte) (command.Request, error) {
	t := &streams.GroupSweep{Consumer: string(args[3]), Max: 100}
	t.Queue, t.Group = string(args[1]), string(args[2])
	idle, ok := command.Integer(args[4])
	if !ok {
		return nil, command.Error("ERR Invalid min-idle-time argument for XAUTOCLAIM")
	}
	t.MinIdle = max(idle, 0)
	var err error
	if t.From, err = intervalStart(args[5]); err != nil {
		return nil, err
	}
	for i := 6; i < len(args); i++ {
		switch {
		case command.Is(args[i], "COUNT") && i+1 < len(args):
			i++
			n, ok := command.Integer(args[i])
			if !ok || n < 1 || n > mostSwept {
				return nil, command.Error("ERR COUNT must be > 0")
			}
			t.Max = int(min(n, math.MaxInt32))
		case command.Is(args[i], "JUSTID"):
			t.JustIDs = true
		default:
			return nil, command.ErrSyntax
		}
	}
	return many{askGroup(t, &t.OnGroup, noKeyOrGroup(args[1], args[2]), func(w *respwire.Writer) {
		w.Array(3)
		writeID(w, t.Next)
		writeClaimed(w, t.Entries, t.JustIDs)
		w.Array(len(t.Gone))
		for _, id := range t.Gone {
			writeID(w, id)
		}
	}), t.Max}, nil
}
