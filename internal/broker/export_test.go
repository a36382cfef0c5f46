package broker

import "fiveways.dev/fiveways/internal/broker/shard"

// RemoveIdle removes idle implicit queues without waiting for their idle time.
func (b *Broker) RemoveIdle() error {
	for _, sh := range b.set.All {
		if err := sh.Call(shard.DebugOf(sh).LetIdleGo); err != nil {
			return err
		}
	}
	return nil
}
