package session

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"sayso/jcs"
)

// drawInto gives every member of a value something, whatever members it has or will have.
func drawInto(t *rapid.T, texts *rapid.Generator[string], v reflect.Value) {
	switch v.Kind() {
	case reflect.String:
		v.SetString(texts.Draw(t, "text"))
	case reflect.Bool:
		v.SetBool(rapid.Bool().Draw(t, "flag"))
	case reflect.Int, reflect.Int64:
		v.SetInt(rapid.SampledFrom([]int64{0, 1, -1, 1 << 40}).Draw(t, "number"))
	case reflect.Slice:
		n := rapid.IntRange(0, 3).Draw(t, "n")
		if n == 0 && rapid.Bool().Draw(t, "nil") {
			return
		}
		v.Set(reflect.MakeSlice(v.Type(), n, n))
		for i := range n {
			drawInto(t, texts, v.Index(i))
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			drawInto(t, texts, field)
		}
	default:
		t.Fatalf("a member of kind %v", v.Kind())
	}
}

// What is written by hand is what the tags say, for every member that a state has or will have, and what is no UTF-8 is refused in the same words.
func TestAppendFollowsTheTags(t *testing.T) {
	good := []string{"", "c-1", `"props":[]`, "quoted \" \\ / \b\t\n\f\r \x00\x1f", "<&>\u2028\u2029é\U0001F600"}
	for name, texts := range map[string]*rapid.Generator[string]{"good": rapid.SampledFrom(good), "bad": rapid.SampledFrom(append(good, "\xff"))} {
		rapid.Check(t, func(t *rapid.T) {
			var s State
			drawInto(t, texts, reflect.ValueOf(&s).Elem())
			want, wantErr := jcs.Encode(&s)
			got, err := s.Append([]byte("before"))
			if string(got) != "before"+string(want) || (err == nil) != (wantErr == nil) || err != nil && err.Error() != wantErr.Error() {
				t.Fatalf("%s: %s %v, want %s %v", name, got, err, want, wantErr)
			}
			if err != nil {
				return
			}
			list, err := AppendPropositions(nil, s.Props)
			if err != nil {
				t.Fatal(err)
			}
			back, err := ParsePropositions(list)
			if err != nil || len(back) != len(s.Props) {
				t.Fatalf("%s: %v", list, err)
			}
			for i := range back {
				if !back[i].Equal(&s.Props[i]) {
					t.Fatalf("%+v, want %+v", back[i], s.Props[i])
				}
			}
		})
	}
}

// Two propositions are equal when every member is.
func TestPropositionsThatDifferInOneMember(t *testing.T) {
	for i := range reflect.TypeFor[Proposition]().NumField() {
		var p, q Proposition
		switch f := reflect.ValueOf(&q).Elem().Field(i); f.Kind() {
		case reflect.String:
			f.SetString("x")
		case reflect.Bool:
			f.SetBool(true)
		case reflect.Slice:
			f.Set(reflect.ValueOf([]string{"x"}))
		}
		if reflect.DeepEqual(p, q) || p.Equal(&q) || q.Equal(&p) || !q.Equal(&q) {
			t.Errorf("member %d does not count", i)
		}
	}
}
