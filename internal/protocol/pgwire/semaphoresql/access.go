package semaphoresql

import (
	"errors"

	"fiveways.dev/fiveways/internal/core/failure"
	"fiveways.dev/fiveways/internal/protocol/pgwire/mbus"
	"fiveways.dev/fiveways/internal/protocol/pgwire/pgerror"
	"fiveways.dev/fiveways/internal/semaphores"
)

// Permissions on a semaphore.
const (
	toConfigure = "configure"
	toWrite     = "write"
)

// may returns an error if the user lacks the permission. It does not reveal whether the semaphore
// exists.
func may(s *mbus.Session, action, key string) error {
	return s.Failed(s.Engine().May(action, "semaphore", key))
}

// look describes a semaphore as the open transaction sees it. It returns semaphores.ErrNotFound or
// failure.ErrAccessRefused.
func look(s *mbus.Session, key string) (semaphores.Info, error) {
	l := semaphores.Look{Of: semaphores.Of{Key: key}}
	if err := do(s, &l, &l.Of); err != nil {
		return semaphores.Info{}, err
	}
	info, there := seen(s, l.Info)
	if !there {
		return info, &failure.Error{Err: semaphores.ErrNotFound, Kind: "semaphore", Name: key}
	}
	return info, nil
}

// exists returns an error if there is no semaphore with the key. If the user may not look, it
// returns nil, and the commit checks again.
func exists(s *mbus.Session, key string) error {
	_, err := look(s, key)
	if errors.Is(err, failure.ErrAccessRefused) {
		return nil
	}
	return s.Failed(err)
}

// do applies a change at once.
func do(s *mbus.Session, c semaphores.Change, of *semaphores.Of) error {
	if err := s.Semaphores().Do(s.Engine(), c); err != nil {
		return err
	}
	return of.Err
}

// seen returns info with the pending changes of the open transaction applied. It returns false if
// the transaction is going to delete the semaphore.
func seen(s *mbus.Session, info semaphores.Info) (semaphores.Info, bool) {
	there := true
	s.Changes(func(c semaphores.Change) {
		switch c := c.(type) {
		case *semaphores.Delete:
			there = there && c.Key != info.Key
		case *semaphores.Update:
			if c.Key == info.Key {
				apply(&info, c.Settings)
			}
		}
	})
	return info, there
}

func apply(info *semaphores.Info, set semaphores.Settings) {
	if set.Active != nil {
		info.Config.Active = *set.Active
	}
	if set.TryRelease != nil {
		info.Config.TryRelease = *set.TryRelease
	}
	if set.Ascending != nil {
		info.Config.Ascending = *set.Ascending
	}
	if set.Lease != nil {
		info.Config.Lease = *set.Lease
	}
}

// create creates a semaphore at once, or returns the existing one. A rollback of the transaction
// deletes it again, unless it has tasks by then.
func create(s *mbus.Session, key string, set semaphores.Settings) (info semaphores.Info, created bool, err error) {
	c := semaphores.Create{Of: semaphores.Of{Key: key}, Settings: set}
	if err := do(s, &c, &c.Of); err != nil {
		return info, false, s.Failed(err)
	}
	if c.Created {
		s.Undoable(func() {
			d := semaphores.Delete{Of: semaphores.Of{Key: key}, IfEmpty: true}
			do(s, &d, &d.Of) //nolint:errcheck // a rollback cannot report errors
		})
		return c.Info, true, nil
	}
	info, there := seen(s, c.Info)
	if !there {
		return info, false, pgerror.New(pgerror.FeatureNotSupported, "semaphore \"%s\" was deleted by this transaction and cannot be made again in it", key)
	}
	return info, false, nil
}
