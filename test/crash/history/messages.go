package history

import "fmt"

// Kind is the kind of an Event.
type Kind uint8

// The kinds of events. "Before" and "after" say whether the client records the event before it acts
// or after the answer.
const (
	Sent       Kind = iota + 1 // before: Msg is published so that it reaches Queue; in transaction Tx unless 0
	Confirmed                  // after: the broker has confirmed Msg, for all its queues
	Delivered                  // after: Msg came from Queue, with Redelivered as the broker set it
	Acked                      // before: the last delivery of Msg from Queue is acknowledged; in transaction Tx unless 0
	Requeued                   // before: the last delivery of Msg from Queue is given back
	CommitSent                 // before: tx.commit of Tx
	Committed                  // after: tx.commit-ok of Tx
	RolledBack                 // before: tx.rollback of Tx
	Synced                     // after: the broker has confirmed a message for Queue that was published after everything that its consumer did
	Named                      // after: the broker has given Msg the name Key
	Isolated                   // after: the node of the clients is isolated from the others, until the next Crashed
	Crashed                    // after: the broker is gone; what follows belongs to the next round
)

var kindNames = [...]string{
	Sent: "sent", Confirmed: "confirmed", Delivered: "delivered", Acked: "acked", Requeued: "requeued",
	CommitSent: "commit sent", Committed: "committed", RolledBack: "rolled back", Synced: "synced", Named: "named", Isolated: "isolated", Crashed: "crashed",
}

func (k Kind) String() string { return kindNames[k] }

// MsgID identifies a message. Seq increases by one with each message of a publisher, over all
// rounds.
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
	Tx          int // 0: none; each transaction of a run has its own number. Delivered: the transaction if it is known, as in SQL
	Redelivered bool
	Key         string  // Sent, Delivered: the key by which the queue groups or de-duplicates messages, or in SQL the message's name
	Consumer    string  // Delivered: the consumer that got it
	Count       int     // Delivered: the broker's count of earlier deliveries
	At          int64   // ms since 1970. Sent: not to be delivered before; Delivered, Isolated, Crashed: now
	ByName      bool    // Delivered: requested by name, as by take, which ignores what the message waits for
	After       []MsgID // Sent: not to be delivered while any of these is in any queue
	Copy        bool    // Sent: a copy that a trigger made of the message: it has its own name, and no message waits for it
}

func (e Event) String() string {
	return fmt.Sprintf("%s %s queue=%s tx=%d redelivered=%v key=%s consumer=%s count=%d at=%d after=%v",
		e.Kind, e.Msg, e.Queue, e.Tx, e.Redelivered, e.Key, e.Consumer, e.Count, e.At, e.After)
}

// Messages is the record of a run with messages. Its methods are safe for concurrent use.
type Messages struct{ record[Event] }
