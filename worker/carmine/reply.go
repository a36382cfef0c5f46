package carmine

import "fmt"

// fields reads a script's reply. It keeps the first failure; reads after it return zero values.
type fields struct {
	reply any
	err   error
}

func (f *fields) at(i int) any {
	all, ok := f.reply.([]any)
	if f.err != nil {
		return nil
	}
	if !ok || i >= len(all) {
		f.err = fmt.Errorf("carmine: a script answers %T without a field %d", f.reply, i)
		return nil
	}
	return all[i]
}

func (f *fields) len() int {
	all, _ := f.reply.([]any)
	return len(all)
}

func (f *fields) integer(i int) int64 {
	n, ok := f.at(i).(int64)
	if !ok && f.err == nil {
		f.err = fmt.Errorf("carmine: field %d of a script's answer is no integer", i)
	}
	return n
}

func (f *fields) text(i int) string {
	s, ok := f.at(i).(string)
	if !ok && f.err == nil {
		f.err = fmt.Errorf("carmine: field %d of a script's answer is no string", i)
	}
	return s
}

func (f *fields) list(i int) fields { return fields{reply: f.at(i), err: f.err} }
