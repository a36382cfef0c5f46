package broker

// RemoveIdle removes the queues that commands made and that are idle, whatever their time.
func (b *Broker) RemoveIdle() error {
	for _, sh := range b.shards {
		err := sh.call(func() {
			for q := sh.implicits.first; q != nil; {
				next := q.seen.next
				if q.idle(sh.now) {
					sh.letGo(q)
				}
				q = next
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}
