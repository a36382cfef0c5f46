package definitions

import (
	"sync"

	"fiveways.dev/fiveways/internal/core/catalog"
)

// watchers holds the callbacks for changes.
type watchers struct {
	mu         sync.Mutex
	parameters map[string][]func() // by component
	users      []func(user string)
	vhosts     []func(catalog.VHostID)
}

// OnParameters registers fn, which is called after each change of parameters of a component,
// including the deletion of their virtual host. It runs on the goroutine that made the change, and
// must not block.
func (a *Admin) OnParameters(component string, fn func()) {
	w := &a.watchers
	w.mu.Lock()
	if w.parameters == nil {
		w.parameters = map[string][]func(){}
	}
	w.parameters[component] = append(w.parameters[component], fn)
	w.mu.Unlock()
	a.OnVHostDeleted(func(catalog.VHostID) { fn() })
}

// OnUserDeleted registers f, which is called for every deleted user, for what outlives the sessions
// of the user. f must not block.
func (a *Admin) OnUserDeleted(f func(user string)) {
	a.watchers.mu.Lock()
	defer a.watchers.mu.Unlock()
	a.watchers.users = append(a.watchers.users, f)
}

// OnVHostDeleted registers f, which is called for every deleted virtual host, for objects in it
// that the engine does not know. f must not block.
func (a *Admin) OnVHostDeleted(f func(catalog.VHostID)) {
	a.watchers.mu.Lock()
	defer a.watchers.mu.Unlock()
	a.watchers.vhosts = append(a.watchers.vhosts, f)
}

func (w *watchers) tell(component string) {
	w.mu.Lock()
	fns := w.parameters[component]
	w.mu.Unlock()
	for _, fn := range fns {
		fn()
	}
}

func (w *watchers) userGone(user string) {
	w.mu.Lock()
	fns := w.users
	w.mu.Unlock()
	for _, fn := range fns {
		fn(user)
	}
}

func (w *watchers) vhostGone(id catalog.VHostID) {
	w.mu.Lock()
	fns := w.vhosts
	w.mu.Unlock()
	for _, fn := range fns {
		fn(id)
	}
}
