package answertest

import (
	"fmt"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"sayso/business/coverage"
	"sayso/jcs"
)

// I12: comparisons with a published number, a from-price, a to-price or a range agree with trying out points.
func TestI12IntervalsAgreeWithPoints(t *testing.T) {
	all, err := LoadAll()
	if err != nil {
		t.Fatal(err)
	}
	rapid.Check(t, func(t *rapid.T) {
		cents := rapid.IntRange(0, 40_000)
		low := cents.Draw(t, "low")
		high := low + rapid.IntRange(1, 5000).Draw(t, "width")
		kind := rapid.SampledFrom([]string{"exact", "from", "to", "range"}).Draw(t, "kind")
		attributes := map[string]string{
			"exact": fmt.Sprintf(`{"price":%s}`, money(low)), "from": fmt.Sprintf(`{"price_from":%s}`, money(low)), "to": fmt.Sprintf(`{"price_to":%s}`, money(high)),
			"range": fmt.Sprintf(`{"price_from":%s,"price_to":%s}`, money(low), money(high)),
		}[kind]
		w := all["dentist"].Change(func(c *World) {
			to := c.Schema.Attributes["price_from"]
			to.Kind = "money_to"
			c.Schema.Attributes["price_to"] = to
			for i := range c.Snapshot.Records {
				if c.Snapshot.Records[i].ID == "filling" {
					c.Snapshot.Records[i].Attributes = jcs.Raw(attributes)
				}
			}
		})
		for i := range w.Snapshot.Records {
			r := &w.Snapshot.Records[i]
			if r.ID != "filling" {
				continue
			}
			set, _, _ := priceOf(w, r)
			op := rapid.SampledFrom(sorted(english.compare)).Draw(t, "op")
			near := rapid.SampledFrom([]int{low - 1, low, low + 1, high - 1, high, high + 1, cents.Draw(t, "any")}).Draw(t, "asked")
			c := &Comparison{Op: op, A: big.NewRat(int64(max(near, 0)), 100), Unit: "EUR", Currency: true}
			if op == "between" {
				c.B = new(big.Rat).Add(c.A, big.NewRat(int64(rapid.IntRange(0, 6000).Draw(t, "wide")), 100))
			}
			q := comparison(w, item{r, "Filling", "en"}, "price", english.compare[op][0], c, set, nil)
			out, err := w.Ask(q.Text(), "en")
			if err != nil {
				t.Fatalf("%q: %v", q.Text(), err)
			}
			resolved := out.Coverage.Status == coverage.Resolved
			if resolved != (q.truth != Unknown) || resolved && Polarity(out) != q.truth.polarity() {
				t.Fatalf("%s: %q is %s %q, want %q", attributes, q.Text(), out.Coverage.Status, Polarity(out), q.truth.polarity())
			}
		}
	})
}

func money(cents int) string { return fmt.Sprintf("%d.%02d", cents/100, cents%100) }
