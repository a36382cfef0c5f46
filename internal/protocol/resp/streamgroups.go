package resp

import (
	"math"
	"strconv"

	"fiveways/internal/broker"
	"fiveways/internal/core/stream"
	"fiveways/internal/protocol/resp/respwire"
)

// groupCommand is XGROUP with its subcommands.
func groupCommand() command {
	sub := func(name string, arity int, f flags, since, summary string, prepare func(*conn, [][]byte) (request, error)) command {
		return command{name: "xgroup|" + name, arity: arity, flags: f, keys: keys{2, 2, 1}, group: "stream", since: since, summary: summary, prepare: prepare}
	}
	help := command{name: "xgroup|help", arity: 2, flags: loading | stale, group: "stream", since: "5.0.0", summary: "Show helpful text",
		prepare: helpText(groupHelp)}
	return command{name: "xgroup", arity: -2, group: "stream", since: "5.0.0", summary: "A container for consumer groups commands", now: missingSub,
		subs: []command{
			sub("create", -5, write|denyOOM, "5.0.0", "Create a consumer group", xgroupSet),
			sub("setid", -5, write, "5.0.0", "Set what a consumer group was given last", xgroupSet),
			sub("destroy", 4, write, "5.0.0", "Destroy a consumer group", xgroupDestroy),
			sub("createconsumer", 5, write|denyOOM, "6.2.0", "Create a consumer in a consumer group", xgroupJoin),
			sub("delconsumer", 5, write, "5.0.0", "Delete a consumer from a consumer group", xgroupLeave),
			help,
		}}
}

// helpText answers with lines.
func helpText(lines []string) func(*conn, [][]byte) (request, error) {
	return func(*conn, [][]byte) (request, error) {
		return told(func(w *respwire.Writer) {
			w.Array(len(lines))
			for _, line := range lines {
				w.Simple(line)
			}
		}), nil
	}
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

const errGroupNeedsKey replyError = "ERR The XGROUP subcommand requires the key to exist. " +
	"Note that for CREATE you may want to use the MKSTREAM option to create an empty stream automatically."

func tellNeedsKey(w *respwire.Writer) { w.Error(string(errGroupNeedsKey)) }

func noSuchGroup(key, group []byte) replyError {
	return errorf("NOGROUP No such consumer group '%s' for key name '%s'", group, key)
}

func noKeyOrGroup(key, group []byte) replyError {
	return errorf("NOGROUP No such key '%s' or consumer group '%s'", key, group)
}

// groupAsk is a streamAsk about a group, with an answer for when there is none.
type groupAsk struct {
	streamAsk
	none    *bool
	noGroup replyError // also the answer when there is no stream, unless missing says another
}

func askGroup(cmd broker.Command, on *broker.OnGroup, noGroup replyError, done func(w *respwire.Writer)) *groupAsk {
	return &groupAsk{streamAsk{cmd, &on.OnStream, func(w *respwire.Writer) { w.Error(string(noGroup)) }, done}, &on.NoGroup, noGroup}
}

func (a *groupAsk) reply(w *respwire.Writer) {
	if !a.on.Missing && a.on.Err == nil && *a.none {
		w.Error(string(a.noGroup))
		return
	}
	a.streamAsk.reply(w)
}

// lateInGroup is an error that the client is told only when the group is there.
func lateInGroup(key, group []byte, e error, noGroup replyError) *groupAsk {
	look := &broker.GroupPending{}
	look.Queue, look.Group = string(key), string(group)
	return askGroup(look, &look.OnGroup, noGroup, func(w *respwire.Writer) { replyWith(w, e) })
}

// xgroupSet is XGROUP CREATE and SETID.
func xgroupSet(_ *conn, args [][]byte) (request, error) {
	key, group := args[2], args[3]
	t := &broker.GroupSet{Read: stream.Unknown, Move: is(args[1], "SETID")}
	t.Queue, t.Group = string(key), string(group)
	for i := 5; i < len(args); i++ {
		switch {
		case !t.Move && is(args[i], "MKSTREAM"):
			t.Create = true
		case is(args[i], "ENTRIESREAD") && i+1 < len(args):
			n, ok := integer(args[i+1])
			switch {
			case !ok:
				return nil, errNotInteger
			case n < 0 && n != stream.Unknown:
				return nil, replyError("ERR value for ENTRIESREAD must be positive or -1")
			}
			t.Read = n
			i++
		default:
			return nil, subSyntax(args)
		}
	}
	var err error
	switch t.Latest = string(args[4]) == "$"; {
	case len(args) > 8 || t.Move && len(args) > 7: // an option comes twice
		err = subSyntax(args)
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
			missing = func(w *respwire.Writer) { replyWith(w, err) }
		}
		return late(key, err.(replyError), missing)
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

func xgroupDestroy(_ *conn, args [][]byte) (request, error) {
	t := &broker.GroupDrop{}
	t.Queue, t.Group = string(args[2]), string(args[3])
	return &streamAsk{t, &t.OnStream, tellNeedsKey, func(w *respwire.Writer) {
		if t.NoGroup {
			w.Int(0)
			return
		}
		w.Int(1)
	}}, nil
}

func xgroupJoin(_ *conn, args [][]byte) (request, error) {
	t := &broker.GroupJoin{Consumer: string(args[4])}
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

func xgroupLeave(_ *conn, args [][]byte) (request, error) {
	t := &broker.GroupLeave{Consumer: string(args[4])}
	t.Queue, t.Group = string(args[2]), string(args[3])
	a := askGroup(t, &t.OnGroup, noSuchGroup(args[2], args[3]), func(w *respwire.Writer) { w.Int(int64(t.Pending)) })
	a.missing = tellNeedsKey
	return a, nil
}

func xack(_ *conn, args [][]byte) (request, error) {
	t := &broker.GroupAck{}
	t.Queue, t.Group = string(args[1]), string(args[2])
	for _, arg := range args[3:] {
		id, err := strictID(arg, 0)
		if err != nil {
			a := lateInGroup(args[1], args[2], err, "")
			return &ackAsk{streamAsk{a.cmd, a.on, tellZero, a.done}, a.none}, nil
		}
		t.IDs = append(t.IDs, id)
	}
	return &ackAsk{streamAsk{t, &t.OnStream, tellZero, func(w *respwire.Writer) { w.Int(int64(t.Acked)) }}, &t.NoGroup}, nil
}

// ackAsk is a streamAsk for which a group that is not there is one with nothing in it.
type ackAsk struct {
	streamAsk
	none *bool
}

func (a *ackAsk) reply(w *respwire.Writer) {
	if !a.on.Missing && a.on.Err == nil && *a.none {
		w.Int(0)
		return
	}
	a.streamAsk.reply(w)
}

func xpending(_ *conn, args [][]byte) (request, error) {
	t := &broker.GroupPending{}
	t.Queue, t.Group = string(args[1]), string(args[2])
	none := noKeyOrGroup(args[1], args[2])
	if len(args) == 3 {
		return askGroup(t, &t.OnGroup, none, func(w *respwire.Writer) { writePendingSummary(w, t) }), nil
	}
	if len(args) < 6 || len(args) > 9 {
		return nil, errSyntax
	}
	t.List = true
	at := 3
	var ok bool
	if is(args[3], "IDLE") {
		if t.MinIdle, ok = integer(args[4]); !ok {
			return nil, errNotInteger
		}
		if len(args) < 8 {
			return nil, errSyntax
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

func writePendingSummary(w *respwire.Writer, t *broker.GroupPending) {
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

func xclaim(_ *conn, args [][]byte) (request, error) {
	none := noKeyOrGroup(args[1], args[2])
	t := &broker.GroupClaim{Consumer: string(args[3]), Time: -1, Count: -1}
	t.Queue, t.Group = string(args[1]), string(args[2])
	if err := claimOptions(t, args); err != nil {
		return lateInGroup(args[1], args[2], err, none), nil
	}
	return askGroup(t, &t.OnGroup, none, func(w *respwire.Writer) { writeClaimed(w, t.Entries, t.JustIDs) }), nil
}

// claimOptions reads the arguments of XCLAIM from the least idle time on.
func claimOptions(t *broker.GroupClaim, args [][]byte) error {
	idle, ok := integer(args[4])
	if !ok {
		return replyError("ERR Invalid min-idle-time argument for XCLAIM")
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
			n, ok := integer(args[i])
			if !ok {
				err = errorf("ERR Invalid %s option argument for XCLAIM", name)
			}
			return n, err
		}
		var err error
		switch opt := args[i]; {
		case is(opt, "FORCE"):
			t.Force = true
		case is(opt, "JUSTID"):
			t.JustIDs = true
		case is(opt, "IDLE") && more:
			t.Time = -1
			t.Idle, err = number("IDLE")
		case is(opt, "TIME") && more:
			t.Idle = 0
			t.Time, err = number("TIME")
		case is(opt, "RETRYCOUNT") && more:
			t.Count, err = number("RETRYCOUNT")
		case is(opt, "LASTID") && more:
			i++
			t.Last, err = strictID(args[i], 0)
		default:
			err = errorf("ERR Unrecognized XCLAIM option '%s'", opt)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeClaimed tells what was claimed.
func writeClaimed(w *respwire.Writer, list []broker.StreamEntry, justIDs bool) {
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

func xautoclaim(_ *conn, args [][]byte) (request, error) {
	t := &broker.GroupSweep{Consumer: string(args[3]), Max: 100}
	t.Queue, t.Group = string(args[1]), string(args[2])
	idle, ok := integer(args[4])
	if !ok {
		return nil, replyError("ERR Invalid min-idle-time argument for XAUTOCLAIM")
	}
	t.MinIdle = max(idle, 0)
	var err error
	if t.From, err = intervalStart(args[5]); err != nil {
		return nil, err
	}
	for i := 6; i < len(args); i++ {
		switch {
		case is(args[i], "COUNT") && i+1 < len(args):
			i++
			n, ok := integer(args[i])
			if !ok || n < 1 || n > mostSwept {
				return nil, replyError("ERR COUNT must be > 0")
			}
			t.Max = int(min(n, math.MaxInt32))
		case is(args[i], "JUSTID"):
			t.JustIDs = true
		default:
			return nil, errSyntax
		}
	}
	return askGroup(t, &t.OnGroup, noKeyOrGroup(args[1], args[2]), func(w *respwire.Writer) {
		w.Array(3)
		writeID(w, t.Next)
		writeClaimed(w, t.Entries, t.JustIDs)
		w.Array(len(t.Gone))
		for _, id := range t.Gone {
			writeID(w, id)
		}
	}), nil
}
