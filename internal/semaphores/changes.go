package semaphores

func (c *Create) do(r *round) error  { return errSoon }
func (c *Update) do(r *round) error  { return errSoon }
func (c *Delete) do(r *round) error  { return errSoon }
func (c *Enqueue) do(r *round) error { return errSoon }
func (c *Release) do(r *round) error { return errSoon }
func (c *Renew) do(r *round) error   { return errSoon }
func (c *Status) do(r *round) error  { return errSoon }
func (c *Look) do(r *round) error    { return errSoon }
func (c *Page) do(r *round) error    { return errSoon }
