package semaphore

import "time"

// renewPart is the part of its duration after which a lease is renewed (a third), so that there is
// time for further attempts.
const renewPart = 3

// lease records that the lease of the task ends the duration left after asked; 0 means never. The
// caller holds mu.
func (p *place) lease(m *Manager, asked time.Time, left time.Duration) {
	if left <= 0 || p.users == 0 {
		p.until, p.renewAt = time.Time{}, time.Time{}
		if p.timer != nil {
			p.timer.Stop()
		}
		return
	}
	p.until = asked.Add(left)
	if next := asked.Add(left / renewPart); p.renewAt.IsZero() || next.Before(p.renewAt) || !p.renewAt.After(asked) {
		p.renewAt = next
	}
	p.sleep(m)
}

// sleep schedules the next call of due. The caller holds mu.
func (p *place) sleep(m *Manager) {
	next := p.until
	if !p.renewAt.IsZero() && p.renewAt.Before(next) {
		next = p.renewAt
	}
	if p.timer == nil {
		p.timer = time.AfterFunc(time.Until(next), func() { m.due(p) })
		return
	}
	p.timer.Reset(time.Until(next))
}

// due renews the lease of a task, or ends its holds if the broker could not be reached in time.
func (m *Manager) due(p *place) {
	var over []func()
	m.mu.Lock()
	now := time.Now()
	switch {
	case p.until.IsZero() || p.users == 0:
	case !now.Before(p.until):
		over = m.empty(p, ErrExpired)
	default:
		if !now.Before(p.renewAt) {
			p.renew, p.renewAt = true, time.Time{} // the read sets the next time
			m.ask(p)
		}
		p.sleep(m)
	}
	m.mu.Unlock()
	for _, end := range over {
		end()
	}
}
