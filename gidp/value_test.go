package gidp

import (
	"testing"

	"sayso/gidp/wire"
	"sayso/jcs"
)

func TestParseValue(t *testing.T) {
	for text, ok := range map[string]bool{
		`"x"`: true, `7`: true, `-0.5`: true, `true`: true, `["a",1,false]`: true, `{"min":1}`: true, `{"max":1.5,"min":-2}`: true, `1e300`: true,
		`null`: false, `[]`: false, `{}`: false, `{"min":2,"max":1}`: false, `{"min":"1"}`: false, `{"min":1,"x":2}`: false, `[[1]]`: false, `[null]`: false, `{"min":1,"min":2}`: false, ``: false, `1e400`: false,
	} {
		if _, err := ParseValue(jcs.Raw(text)); (err == nil) != ok {
			t.Errorf("%s: %v, want accepted %v", text, err, ok)
		}
	}
}

// Any two JSON texts, as a held and an asked value, give one of the results in bounded time; a held value that is asked by its own text is named by it.
func FuzzEvaluate(f *testing.F) {
	for _, s := range [][2]string{{`"x"`, `["x","y"]`}, {`{"min":1,"max":3}`, `{"max":2}`}, {`[1,2.5]`, `2.5`}, {`7`, `{"min":7,"max":7}`}, {`1e300`, `{"min":-1e308}`}, {`true`, `[true]`}, {`"\u0000"`, `{"a":[["b"]]}`}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, held, asked string) {
		v, err := ParseValue(jcs.Raw(held))
		if err != nil {
			return
		}
		if !v.Names(jcs.Raw(held)) {
			t.Fatalf("%s does not name itself", held)
		}
		if len(asked) > wire.MaxBytes || jcs.Check(jcs.Raw(asked)) != nil {
			return
		}
		named := v.Names(jcs.Raw(asked))
		shape, low, high, integers := v.Integers()
		p := &Partition{Min: -maxInt, Max: maxInt, Edges: []int64{-5, 0, 3, 100}}
		for _, op := range []wire.Operator{wire.OpEquals, wire.OpIntersects, wire.OpOverlaps, wire.OpCompatibleWith} {
			open := answer(Open{Value: v}, op, asked)
			switch open {
			case wire.Compatible, wire.Incompatible, wire.Unknown:
			default:
				t.Fatalf("%s %s %s: %s", held, op, asked, open)
			}
			if op == wire.OpEquals && open == wire.Compatible && !named {
				t.Fatalf("%s equals %s, and does not name it", asked, held)
			}
			if !integers {
				continue
			}
			c := Cells{Partition: p, Shape: shape}
			var inside bool
			if shape != Ceiling {
				if c.Low, inside = p.Cell(low); !inside {
					return
				}
			}
			if shape != Floor {
				if c.High, inside = p.Cell(high); !inside {
					return
				}
			}
			got := answer(c, op, asked)
			if got == wire.Compatible && open != wire.Compatible || got == wire.Conditionally && open != wire.Compatible || got == wire.Incompatible && open != wire.Incompatible {
				t.Fatalf("%s %s %s: %s from the cell, %s in truth", held, op, asked, got, open)
			}
		}
	})
}
