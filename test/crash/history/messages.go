package history

import "fmt"

// Kind is what happened in an Event.
type Kind uint8

// The kinds of events. "Before" and "after" report whether the client records it before acting or
// after the answer.
const (
	Sent       Kind = iota + 1 // before: Msg is published so that it reaches Queue; in transaction Tx unless 0
	Confirmed                  // after: the broker has confirmed Msg, for all its queues
	Delivered                  // after: Msg came from Queue, with Redelivered as the broker set it
	Acked                      // before: the last delivery of Msg from Queue is acknowledged; in transaction Tx unless 0
	Requeued                   // before: the last delivery of Msg from Queue is given back
	CommitSent                 // before: tx.commit of Tx
	Committed                  // after: tx.commit-ok of Tx
	RolledBack                 // before: tx.rollback of Tx
	Synced                     // after: the broker has confirmed a message for Queue that was published behind all that its consumer did before
	Named                      // after: the broker has given Msg the name Key
	Isolated                   // after: the node that the clients are connected to is cut off from the others, until the next Crashed
	Crashed                    // after: the broker is gone; what follows belongs to the next round
)

var kindNames = [...]string{
	Sent: "sent", Confirmed: "confirmed", Delivered: "delivered", Acked: "acked", Requeued: "requeued",
	CommitSent: "commit sent", Committed: "committed", RolledBack: "rolled back", Synced: "synced", Named: "named", Isolated: "isolated", Crashed: "crashed",
}

func (k Kind) String() string { return kindNames[k] }

// MsgID names a message: Seq grows by one with each message of a publisher, over all rounds.
type MsgID struct {
	Publisher string
	Seq       int
}

func (m MsgID) String() string { return fmt.Sprintf("%s#%d", m.Publisher, m.Seq) }

// Event is one thing that a client did or saw.
type Event struct {
	Kind        Kind
	Msg         MsgID
	Queue       string
	Tx          int // 0: none; every transaction of a run has its own number. Delivered: where that can only be in one, as in SQL
	Redelivered bool
	Key         string  // Sent, Delivered: what the queue groups or de-duplicates messages by, or in SQL the message's name
	Consumer    string  // Delivered: whose it is
	Count       int     // Delivered: how often it had come back, as the broker says
	At          int64   // ms since 1970. Sent: not to be delivered before; Delivered, Isolated, Crashed: now
	ByName      bool    // Delivered: asked for by its name, as take does, which overlooks what it waits for
	After       []MsgID // Sent: not to be delivered while any of these is in any queue
	Copy        bool    // Sent: a trigger made it of the message: it has a name of its own, and no message waits for it
}

func (e Event) String() string {
	return fmt.Sprintf("%s %s queue=%s tx=%d redelivered=%v key=%s consumer=%s count=%d at=%d after=%v",
		e.Kind, e.Msg, e.Queue, e.Tx, e.Redelivered, e.Key, e.Consumer, e.Count, e.At, e.After)
}

// Messages is the record of a run with messages. Its methods may be called from any goroutine.
type Messages struct{ record[Event] }
