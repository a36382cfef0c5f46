package broker

import (
	"errors"
	"math/rand/v2"
	"testing"

	"fiveways.dev/fiveways/internal/core/message"
	"fiveways.dev/fiveways/internal/storage/vfs"
)

// selecting returns the arguments of a binding with a condition.
func selecting(text string) message.Table { return message.Table{{Name: "x-selector", Value: text}} }

func colored(color string) message.Properties {
	return message.Properties{
		Flags: message.HasDeliveryMode | message.HasHeaders, DeliveryMode: 2, Headers: message.Table{{Name: "color", Value: color}},
	}
}

// Bindings with selectors survive a restart, clean or not. A removed one does not come back.
func TestSelectorsSurviveARestart(t *testing.T) {
	for _, how := range []string{"clean", "checkpoint", "crash"} {
		t.Run(how, func(t *testing.T) {
			fs := vfs.NewMem()
			b := openBroker(t, fs, nil)
			c := newClient(t, b)
			c.queue("red", nil)
			c.queue("blue", nil)
			must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "red", Args: selecting("color = 'red'")}))
			must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "blue", Args: selecting("color = 'blue'")}))
			must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "blue", Args: selecting("color = 'red'")}))
			must(t, c.Unbind(BindSpec{Source: "amq.fanout", Destination: "blue", Args: selecting("color = 'red'")}))
			want, err := b.Hash()
			must(t, err)
			var next vfs.FS = fs
			switch how {
			case "clean":
				c.Close()
				mustClose(t, b)
			case "checkpoint":
				b.checkpointDue(true)
				fallthrough
			default:
				next = fs.CrashClone(rand.New(rand.NewPCG(1, 2)))
			}
			b2 := openBroker(t, next, nil)
			defer mustClose(t, b2)
			if got, err := b2.Hash(); err != nil || got != want {
				t.Errorf("state hash %x, want %x, %v", got, want, err)
			}
			c2 := newClient(t, b2)
			for _, color := range []string{"red", "blue", "green"} {
				c2.postProps("amq.fanout", "k", color, colored(color), nil)
			}
			c2.Flush()
			sameStrings(t, c2.drain("red"), "red")
			sameStrings(t, c2.drain("blue"), "blue")
		})
	}
}

// A session that has cached a key's route notices new selectors.
func TestSelectorsAndTheRouteCache(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", nil)
	must(t, c.Bind(BindSpec{Source: "amq.direct", Destination: "q", Key: "k", Args: selecting("color = 'red'")}))
	for i, color := range []string{"red", "blue", "red", "blue"} {
		c.postProps("amq.direct", "k", color+string(rune('0'+i)), colored(color), nil)
	}
	c.Flush()
	sameStrings(t, c.drain("q"), "red0", "red2")
}

// Selectors also apply to dead letters, with the properties they then have.
func TestSelectorsOfDeadLetters(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("src", func(s *QueueSpec) { s.Policy.DeadLetter, s.Policy.DeadLetterExchange = true, "amq.fanout" })
	c.queue("red", nil)
	c.queue("failed", nil)
	must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "red", Args: selecting("color = 'red' AND exchange = 'amq.fanout'")}))
	must(t, c.Bind(BindSpec{Source: "amq.fanout", Destination: "failed", Args: selecting(`"x-first-death-reason" = 'rejected'`)}))
	for _, color := range []string{"red", "blue"} {
		c.postProps("", "src", color, colored(color), nil)
		c.Flush()
		d, _, ok, err := c.Get("src", false)
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		c.Reject(d.Queue, nil, d.Handle, 1)
		c.Flush()
		settleDead(t, c, b)
	}
	sameStrings(t, c.drain("red"), "red")
	sameStrings(t, c.drain("failed"), "red", "blue")
}

func TestBadSelectorChangesNothing(t *testing.T) {
	b := openBroker(t, vfs.NewMem(), nil)
	defer mustClose(t, b)
	c := newClient(t, b)
	c.queue("q", nil)
	err := c.Bind(BindSpec{Source: "amq.fanout", Destination: "q", Args: selecting("a = ")})
	var e *Error
	if !errors.As(err, &e) || e.Err != ErrInvalidBinding || e.Detail != "invalid arg 'x-selector' for binding: selector: at 5: expected a value, got the end" {
		t.Errorf("%v", err)
	}
	c.put("amq.fanout", "", "m", nil)
	if got := c.drain("q"); len(got) != 0 {
		t.Errorf("the binding is there: %q", got)
	}
}
