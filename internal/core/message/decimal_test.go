package message

import "testing"

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		d    Decimal
		want string
	}{
		{Decimal{0, 105}, "105"}, {Decimal{2, 105}, "1.05"}, {Decimal{3, 105}, "0.105"}, {Decimal{5, 105}, "0.00105"}, {Decimal{1, 0}, "0.0"},
	} {
		if got := c.d.Text(); got != c.want {
			t.Errorf("%v is %s, want %s", c.d, got, c.want)
		}
	}
}
