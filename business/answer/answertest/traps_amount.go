package answertest

import (
	"math/big"
	"strings"
)

// written is a comparison whose number is written in an unusual way, with what it says in plain numbers.
type written struct {
	lang, text, op string // CUR and SIGN stand for the currency
	bound          *big.Rat
}

func n(v int64) *big.Rat { return big.NewRat(v, 1) }

var writtenPrices = []written{
	{"en", "under 1,000 CUR", "lt", n(1000)}, {"en", "over 1,000.00 CUR", "gt", n(1000)}, {"en", "under 1000.50 CUR", "lt", n(1000)}, {"en", "under 0.001 CUR", "lt", big.NewRat(1, 1000)},
	{"en", "under -1000 CUR", "lt", n(-1000)}, {"en", "over -1000 CUR", "gt", n(-1000)}, {"en", "over \u22121000 CUR", "gt", n(-1000)}, {"en", "under minus 1000 CUR", "lt", n(-1000)},
	{"en", "under SIGN1000", "lt", n(1000)}, {"en", "over SIGN1000", "gt", n(1000)}, {"en", "over -SIGN1000", "gt", n(-1000)}, {"en", "under 5 million CUR", "lt", n(5_000_000)},
	{"en", "under a thousand CUR", "lt", n(1000)}, {"en", "over a thousand CUR", "gt", n(1000)}, {"en", "under 1k CUR", "lt", n(1000)}, {"en", "over 1e3 CUR", "gt", n(1000)},
	{"en", "no more than 1000 CUR", "le", n(1000)}, {"en", "not more than 1000 CUR", "le", n(1000)}, {"en", "no less than 1000 CUR", "ge", n(1000)}, {"en", "not less than 1 CUR", "ge", n(1)},
	{"en", "up to 1 CUR", "le", n(1)}, {"en", "under 1 000 CUR", "lt", n(1000)}, {"en", "over 1 000 CUR", "gt", n(1000)}, {"en", "over 100000 cents", "gt", n(1000)}, {"en", "under 1000 CUR cents", "lt", n(10)},
	{"en", "under ten CUR", "lt", n(10)}, {"en", "over 3/4 CUR", "gt", big.NewRat(3, 4)}, {"en", "between 100000 and 200000 CUR", "gt", n(100_000)},
	{"de", "unter 1.000 Euro", "lt", n(1000)}, {"de", "über 1.000 Euro", "gt", n(1000)}, {"de", "nicht mehr als 1000 Euro", "le", n(1000)}, {"de", "nicht unter 1 Euro", "ge", n(1)},
	{"de", "über -1000 Euro", "gt", n(-1000)}, {"de", "unter 1.000,50 Euro", "lt", n(1000)}, {"de", "über 100000 Cent", "gt", n(1000)},
	{"es", "menos de 1.000 euros", "lt", n(1000)}, {"es", "más de 1.000 euros", "gt", n(1000)}, {"es", "no más de 1000 euros", "le", n(1000)}, {"es", "más de 100000 céntimos", "gt", n(1000)},
}

var writtenLengths = []written{
	{"en", "at least 1 hour and 30 minutes", "ge", n(90)}, {"en", "under 1 hour and 1 minute", "lt", n(61)}, {"en", "at least half an hour", "ge", n(30)}, {"en", "under half an hour", "lt", n(30)},
	{"en", "at least one and a half hours", "ge", n(90)}, {"en", "at least 1h30", "ge", n(90)}, {"en", "at least 2 days", "ge", n(2880)}, {"en", "at least 90 seconds", "ge", big.NewRat(3, 2)},
	{"en", "at least 1:30 hours", "ge", n(90)}, {"en", "under 1 hour 1 minute", "lt", n(61)}, {"en", "over -5 minutes", "gt", n(-5)}, {"en", "not under 1 minute", "ge", n(1)},
}

// amounts asks the written comparisons of every exact price and every duration.
func amounts(w *World) []*Question {
	unit := w.Schema.Attributes["price"].Currency
	fill := strings.NewReplacer("CUR", unit, "SIGN", map[string]string{"GBP": "£", "EUR": "€"}[unit])
	verb := map[string]string{"en": "Is ", "de": "Kostet ", "es": "¿Cuesta "}
	var out []*Question
	for _, it := range items(w) {
		if set, _, _ := priceOf(w, it.record); set != nil && set.high != nil && set.low.Sign() > 0 {
			for _, c := range writtenPrices {
				if c.lang == it.lang {
					out = append(out, judged(w, "price "+c.text, c.lang, verb[c.lang], it.name, " "+fill.Replace(c.text)+"?", set.Compare(c.op, c.bound, nil)))
				}
			}
		}
		if set, _ := durationOf(it.record); set != nil && it.lang == "en" {
			for _, c := range writtenLengths {
				out = append(out, judged(w, "length "+c.text, c.lang, verb[c.lang], it.name, " "+c.text+"?", set.Compare(c.op, c.bound, nil)))
			}
		}
	}
	return out
}
