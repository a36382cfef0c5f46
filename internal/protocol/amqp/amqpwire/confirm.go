package amqpwire

// ConfirmSelect puts a channel in confirm mode.
type ConfirmSelect struct {
	NoWait bool
}

func (*ConfirmSelect) ID() MethodID             { return IDConfirmSelect }
func (m *ConfirmSelect) arguments(a *arguments) { a.bits(&m.NoWait) }

// ConfirmSelectOk confirms ConfirmSelect.
type ConfirmSelectOk struct{}

func (*ConfirmSelectOk) ID() MethodID         { return IDConfirmSelectOk }
func (*ConfirmSelectOk) arguments(*arguments) {}
