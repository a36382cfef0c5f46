package amqpwire

// AccessRequest asks for an access ticket. It dates from AMQP 0-8, and old clients still send it.
type AccessRequest struct {
	Realm     string
	Exclusive bool
	Passive   bool
	Active    bool
	Write     bool
	Read      bool
}

func (*AccessRequest) ID() MethodID { return IDAccessRequest }

func (m *AccessRequest) arguments(a *arguments) {
	a.shortStr(&m.Realm)
	a.bits(&m.Exclusive, &m.Passive, &m.Active, &m.Write, &m.Read)
}

// AccessRequestOk grants a ticket.
type AccessRequestOk struct {
	Ticket uint16
}

func (*AccessRequestOk) ID() MethodID             { return IDAccessRequestOk }
func (m *AccessRequestOk) arguments(a *arguments) { a.short(&m.Ticket) }
