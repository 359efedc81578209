package session

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"sayso/gidp/wire"
	"sayso/jcs"
)

// What is written by hand is what the tags say, for every member that a proposition has or will have.
func TestAppendFollowsTheTags(t *testing.T) {
	texts := rapid.SampledFrom([]string{"", "c-1", `"props":[]`, "quoted \" \\ / \b\t\n\f\r \x00\x1f", "<&>\u2028\u2029é\U0001F600"})
	rapid.Check(t, func(t *rapid.T) {
		s := State{ID: texts.Draw(t, "id"), Phase: Probing, PeerIDs: []string{texts.Draw(t, "peer")}, Reason: wire.Reason(texts.Draw(t, "reason"))}
		for range rapid.IntRange(0, 4).Draw(t, "n") {
			var p Proposition
			for _, field := range reflect.ValueOf(&p).Elem().Fields() {
				switch field.Kind() {
				case reflect.String:
					field.SetString(texts.Draw(t, "text"))
				case reflect.Bool:
					field.SetBool(rapid.Bool().Draw(t, "flag"))
				case reflect.Slice:
					field.Set(reflect.ValueOf(rapid.SliceOfN(texts, 0, 3).Draw(t, "list")))
				default:
					t.Fatalf("a member of kind %v", field.Kind())
				}
			}
			s.Props = append(s.Props, p)
		}
		want, err := jcs.Encode(&s)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Append([]byte("before")); err != nil || string(got) != "before"+string(want) {
			t.Fatalf("%s %v, want %s", got, err, want)
		}
	})
	for _, p := range []Proposition{{ID: "\xff"}, {Supersedes: []string{"\xff"}}, {Result: "\xff"}} {
		if got, err := (&State{Props: []Proposition{p}}).Append([]byte("before")); err == nil || string(got) != "before" {
			t.Errorf("%q, %v", got, err)
		}
	}
}
