package gidp

import (
	"testing"
)

func TestClasses(t *testing.T) {
	for text, want := range map[string]string{
		"public": "public", "discovery": "discovery", "network": "network", "session": "session", "session/none": "session", "session/consent": "session/consent",
		"session/principal_approval": "session/principal_approval", "network/consent": "network/consent", "discovery/consent": "discovery/consent",
		"evaluation_only": "evaluation_only", "never": "never", "local": "evaluation_only", "local/none": "evaluation_only",
		"local/consent": "", "public/consent": "", "session/": "", "session/consent/x": "", "Session": "", "": "", "evaluation_only/consent": "",
	} {
		c, err := ParseClass(text)
		if (err == nil) != (want != "") || err == nil && c.String() != want {
			t.Errorf("%q: %v %v, want %q", text, c, err, want)
		}
	}
	if (Class{}) != EvaluationOnly {
		t.Error("an attribute without an entry is evaluation_only")
	}
	order := []string{"never", "evaluation_only", "session/principal_approval", "session/consent", "session", "network/consent", "network", "discovery", "public"}
	for i, a := range order {
		for j, b := range order {
			ca, _ := ParseClass(a)
			cb, _ := ParseClass(b)
			if ca.MoreProtective(cb) != (i < j) {
				t.Errorf("%s more protective than %s: %v", a, b, i >= j)
			}
		}
	}
}

func FuzzParseClass(f *testing.F) {
	for _, s := range []string{"session/consent", "never", "local/consent", "public", "/", "network/principal_approval"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		c, err := ParseClass(s)
		if err != nil {
			return
		}
		again, err := ParseClass(c.String())
		if err != nil || again != c {
			t.Fatalf("%q became %v and then %v, %v", s, c, again, err)
		}
		if c.Surface == Local && c.Gate != Ungated || c.Never && c.Disclosable() {
			t.Fatalf("%q: %+v", s, c)
		}
	})
}

func TestMostProtectiveEntryWins(t *testing.T) {
	class := func(s string) Class { c, _ := ParseClass(s); return c }
	e := Entry{"unknown_agent": Never, "verified_agent": class("session/principal_approval"), "member:guild": class("session/consent"), "attested:card": class("session")}
	for _, c := range []struct {
		peer Counterparty
		want string
	}{
		{Counterparty{}, "never"}, {Counterparty{Verified: true}, "session/principal_approval"}, {Counterparty{Verified: true, Member: []string{"guild"}}, "session/principal_approval"},
		{Counterparty{Member: []string{"guild"}}, "never"},
	} {
		if got := e.For(c.peer).String(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.peer, got, c.want)
		}
	}
	if got := (Entry{"member:guild": class("public")}).For(Counterparty{Member: []string{"other"}}); got != EvaluationOnly {
		t.Errorf("%v: no match is evaluation_only", got)
	}
	for property, ok := range map[string]bool{"": true, "unknown_agent": true, "member:x": true, "member:": false, "attested:y": true, "friend": false} {
		if (CheckProperty(property) == nil) != ok {
			t.Errorf("%q: accepted %v", property, !ok)
		}
	}
}

func TestAuthority(t *testing.T) {
	for preset, want := range map[string][]Permission{
		"conservative": {Yes, Yes, Approval, Yes, Approval, Approval, No, No}, "moderate": {Yes, Yes, Yes, Yes, Yes, Approval, No, No}, "advanced": {Yes, Yes, Yes, Yes, Yes, Approval, Yes, No},
	} {
		a, ok := Delegation(preset)
		for level, p := range want {
			if !ok || a.At(Level(level)) != p {
				t.Errorf("%s %v: %v, want %v", preset, Level(level), a.At(Level(level)), p)
			}
		}
	}
	if _, ok := Delegation("reckless"); ok {
		t.Error("a preset that does not exist")
	}
	all := Authority{}
	for i := range all {
		all[i] = Yes
	}
	if all.At(Commit) != No {
		t.Error("commit is never given")
	}
	for level := Observe; level <= Commit; level++ {
		if got, ok := ParseLevel(level.String()); !ok || got != level {
			t.Errorf("%v reads back as %v", level, got)
		}
	}
}
