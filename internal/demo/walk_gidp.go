package demo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"sayso/internal/agent"
	"sayso/internal/agent/interestfile"
	"sayso/jcs"
	"sayso/safefetch"
)

// GIDPWalk are the inputs of WalkGIDP: a provider and two agents that serve, each on its own data folder.
type GIDPWalk struct {
	Run           Command           // runs commands of the program, beside the agents
	Fetch         *safefetch.Client // may reach the provider and the seller
	Provider      string            // origin
	Seller, Buyer Party
	Interests     fs.FS // the files of the samples
	Wire          *Wire // tap of the public listeners of all three
	Now           func() time.Time

	patience time.Duration // 0: gidpPatience
}

// Party is one agent: the data folder that it serves, where counterparties reach it, and where its principal decides.
type Party struct {
	Name   string `json:"name"`
	Data   string `json:"data"`
	Origin string `json:"origin"`
	Inbox  string `json:"inbox"`
}

// The samples of the walk, and the keys that it is about.
const (
	sellerFile = "corporate-transaction-seller.yaml"
	buyerFile  = "corporate-transaction-buyer.yaml"
	budgetFile = "core.yaml"
	leastKey   = "enterprise_value_eur"
	nameKey    = "organisation_name"
)

// gidpPatience is how long a step waits for what the agents do by themselves.
const gidpPatience = 15 * time.Second

// WalkGIDP lets two agents find each other, qualify, reveal and hand over, and shows what crossed. Then, after calling probing, an adversary asks for the
// seller's least price under each mechanism. The interests are new in each walk and end with it. The error is of the context, or of the files of the interests.
func WalkGIDP(ctx context.Context, o GIDPWalk, show func(Step), probing func()) error {
	w := &gidpWalk{walk: walk{ctx: ctx, Options: Options{Fetch: o.Fetch, Run: o.Run}}, GIDPWalk: o, transcript: transcript{wire: o.Wire, told: map[string]bool{}}}
	w.seller, w.buyer = side{Party: o.Seller}, side{Party: o.Buyer}
	if err := errors.Join(w.place(&w.seller, sellerFile), w.place(&w.buyer, buyerFile)); err != nil {
		return err
	}
	w.endEarlier()
	if err := w.take(show, w.outlook, w.publishSeller, w.publishBuyer, w.meet, w.stayed, w.lead, w.whoAreYou, w.decideNames, w.handOver, w.trail, w.leave); err != nil {
		return err
	}
	probing()
	return w.take(show, w.measured, w.cells, w.declined, w.budget, w.ended)
}

type gidpWalk struct {
	walk
	GIDPWalk
	seller, buyer side
	transcript    transcript
	line          string // id of the product line's interest
}

// side is one principal of the walk.
type side struct {
	Party
	file     string
	limit    string // the private bound, as its file has it
	company  string // the name that identifies it
	interest string // id
	session  string // id of its side of the session that qualified
}

// place puts a sample into the folder of a side, as a principal's file, and reads from it what must not leave.
func (w *gidpWalk) place(s *side, name string) error {
	text, err := fs.ReadFile(w.Interests, name)
	if err != nil {
		return err
	}
	doc, err := interestfile.Parse(name, text)
	if err != nil {
		return err
	}
	var bound map[string]jcs.Raw
	if err := jcs.Decode(doc.Attributes[leastKey], &bound); err != nil || len(bound) != 1 {
		return fmt.Errorf("%s does not state one bound of %s: %w", name, leastKey, err)
	}
	for _, value := range bound {
		s.limit = string(value)
	}
	s.company, _ = jcs.Text(doc.Attributes[nameKey])
	s.file = filepath.Join(s.Data, name)
	return os.WriteFile(s.file, text, 0o600)
}

// sayso runs a command of the program and returns its JSON answer. The first one of a step is its request, further ones are lines of its answer.
func (w *gidpWalk) sayso(s *Step, args ...string) []byte {
	line := clip("sayso " + strings.Join(args, " "))
	if s.Request == "" {
		s.Request = line
	} else {
		s.Answer = append(s.Answer, clip("$ "+line))
	}
	out, code := w.ask(args...)
	s.expect(code == 0, "exit %d: %s", code, text(out, "message"))
	return out
}

// ask runs a command without showing it.
func (w *gidpWalk) ask(args ...string) ([]byte, int) {
	out, code := w.GIDPWalk.Run(append(slices.Clone(args), "--json", "--quiet"), nil)
	return []byte(strings.TrimSpace(out)), code
}

// crossed shows what has crossed since the step before.
func (w *gidpWalk) crossed(s *Step) []string {
	lines := w.transcript.next()
	s.Answer = append(s.Answer, lines...)
	return lines
}

// crossing shows what crosses until all of these texts were in it.
func (w *gidpWalk) crossing(s *Step, texts ...string) {
	w.until(s, "that all of it crossed", func() bool {
		w.crossed(s)
		return s.Problem != "" || !slices.ContainsFunc(texts, func(want string) bool { return !s.has(want) })
	})
	w.shows(s, texts...)
}

// has reports whether a line of the answer holds a text.
func (s *Step) has(want string) bool {
	return slices.ContainsFunc(s.Answer, func(line string) bool { return strings.Contains(line, want) })
}

// until asks again and again, until it holds or the time for that is over.
func (w *gidpWalk) until(s *Step, what string, holds func() bool) {
	patience := cmp.Or(w.patience, gidpPatience)
	ctx, cancel := context.WithTimeout(w.ctx, patience)
	defer cancel()
	tick := time.NewTicker(40 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-ctx.Done():
			s.expect(false, "%s has not happened within %s", what, patience)
			return
		case <-tick.C:
		}
	}
}

// endEarlier revokes what a walk over the same folder left active when it was cut short: its addresses are gone.
func (w *gidpWalk) endEarlier() {
	for _, of := range []*side{&w.seller, &w.buyer} {
		out, _ := w.ask("interest", "list", "--data", of.Data)
		for _, i := range elements[agent.InterestView](out, "interests") {
			if i.State == "ACTIVE" {
				w.ask("interest", "revoke", i.ID, "--data", of.Data)
			}
		}
	}
}

// elements is the named list of an answer, nil when there is none.
func elements[T any](answer []byte, name string) (out []T) {
	if raw := member(answer, name); raw == "" || jcs.Decode([]byte(raw), &out) != nil {
		return nil
	}
	return out
}

func (w *gidpWalk) outlook(s *Step) {
	s.Title, s.Why = "What a seller would never say aloud", "Before anything leaves, its owner sees what would be public and the most that questions can tell: no sale, no name, no amount."
	out := w.sayso(s, "interest", "check", w.seller.file)
	public := member(out, "public")
	s.Answer = append(s.Answer, clip("published: "+public))
	for _, a := range elements[jcs.Raw](out, "attributes") {
		if key := text(a, "key"); key == leastKey || key == "sector" || key == "geography" || key == nameKey {
			s.Answer = append(s.Answer, clip(pick(a, "key", "kind", "cells", "bits")))
		}
		s.expect(text(a, "key") != leastKey || text(a, "kind") == "cells", "the least price is not answered from cells")
	}
	s.expect(strings.Contains(public, `"enterprise_software"`) && !strings.Contains(string(out), w.seller.limit) && !strings.Contains(public, "sell"), "what would be public is not what was stated")
}

func (w *gidpWalk) publishSeller(s *Step) {
	s.Title, s.Why = "Its agent publishes that", "The projection stands under a key and an address of its own: nothing in it ties it to a company, and nothing in it says buy or sell."
	w.published(s, &w.seller)
}

func (w *gidpWalk) publishBuyer(s *Step) {
	s.Title, s.Why = "A buyer does the same", "Another agent, another data folder. Both projections say the same, so neither shows which side it is."
	w.published(s, &w.buyer)
}

// published takes an interest in and activates it at the provider.
func (w *gidpWalk) published(s *Step, of *side) {
	of.interest = text(w.sayso(s, "interest", "add", of.file, "--data", of.Data), "id")
	out := w.sayso(s, "interest", "activate", of.interest, "--data", of.Data)
	for _, p := range elements[jcs.Raw](out, "projections") {
		s.Answer = append(s.Answer, clip(pick(p, "endpoint", "state", "expires")))
		s.expect(text(p, "state") == "published", "the provider has not acknowledged it")
	}
	lines := w.crossed(s)
	s.expect(slices.ContainsFunc(lines, func(line string) bool {
		return strings.HasSuffix(line, `POST /projections {"categories":["strategic_transaction"],"domains":["enterprise_software"],"geographies":["europe"],"relation":["complementary_counterparty"]}: 201`)
	}), "another projection crossed")
}

func (w *gidpWalk) meet(s *Step) {
	s.Title, s.Why = "The projections meet, and the agents talk", "One session, one request: each key is asked by its coarse class. Conditionally compatible is an amount in the very cell that was asked: feasible or not is open."
	out := w.sayso(s, "interest", "explore", w.buyer.interest, "--data", w.buyer.Data, "--provider", w.Provider)
	found := elements[agent.SessionView](out, "sessions")
	s.Answer = append(s.Answer, clip(pick(out, "state")+fmt.Sprintf(" sessions: %d", len(found))))
	for _, of := range []*side{&w.buyer, &w.seller} {
		w.until(s, "that the "+of.Name+" qualifies", func() bool { return s.Problem != "" || w.qualified(of) })
	}
	w.crossing(s, "CompatibilityResponse potentially_compatible", leastKey+" conditionally_compatible", "Opportunity")
}

// qualified looks for a session of a side that has qualified.
func (w *gidpWalk) qualified(of *side) bool {
	out, _ := w.ask("interest", "sessions", of.interest, "--data", of.Data)
	for _, v := range elements[agent.SessionView](out, "sessions") {
		if v.State == "QUALIFIED" {
			of.session = v.ID
		}
	}
	return of.session != ""
}

// shows expects lines of the answer that hold these texts.
func (w *gidpWalk) shows(s *Step, texts ...string) {
	for _, want := range texts {
		s.expect(s.has(want), "%q was not seen", want)
	}
}

func (w *gidpWalk) stayed(s *Step) {
	s.Title, s.Why = "What stayed at home", "The program that talks to a counterparty is handed cells and labels of a coarse cut. It has no value that it could let slip."
	all, raw := w.Wire.Exchanges(), w.Wire.Bytes()
	s.Request = fmt.Sprintf("search %d bytes of %d requests and answers, as captured on the three listeners, for what both sides hold", len(raw), len(all))
	for _, of := range []*side{&w.seller, &w.buyer} {
		for what, value := range map[string]string{"its bound": of.limit, "its name": of.company} {
			n := count(raw, all, value)
			s.Answer = append(s.Answer, clip(fmt.Sprintf("%s: %s, %s: crossed %d times", of.Name, what, value, n)))
			s.expect(n == 0, "%s of the %s crossed", what, of.Name)
		}
	}
	slices.Sort(s.Answer)
	s.expect(len(all) > 0, "nothing was captured")
}

// count is how often a text is in what crossed, as it lay on the wire and as its reader put it together.
func count(raw []byte, all []Exchange, value string) int {
	n := strings.Count(string(raw), value)
	for _, x := range all {
		n = max(n, strings.Count(string(x.Body), value), strings.Count(string(x.Answer), value))
	}
	return n
}

func (w *gidpWalk) lead(s *Step) {
	s.Title, s.Why = "It is a lead", "Every question that was asked got a qualifying answer, and what is open is named. Nobody has agreed to anything, and nobody knows who the other one is."
	out := w.sayso(s, "interest", "opportunities", "--data", w.buyer.Data)
	leads := elements[jcs.Raw](out, "opportunities")
	i := slices.IndexFunc(leads, func(l jcs.Raw) bool { return text(l, "id") == w.buyer.session && w.buyer.session != "" })
	if s.expect(i >= 0, "the session is not among the leads"); i < 0 {
		return
	}
	s.Answer = append(s.Answer, clip(pick(leads[i], "state", "evaluated_dimensions", "compatible_dimensions", "open_conditions", "contingent_on")))
	for line := range strings.SplitSeq(text(leads[i], "statement"), ". ") {
		s.Answer = append(s.Answer, clip(strings.TrimSuffix(line, ".")+"."))
	}
	s.expect(member(leads[i], "open_conditions") == `["`+leastKey+`"]`, "the open conditions are others")
}

func (w *gidpWalk) whoAreYou(s *Step) {
	s.Title, s.Why = "Each asks who the other is", "No agent can answer that by itself. Each principal sees what is asked, on what evidence, and exactly what a yes would send."
	for _, of := range []*side{&w.buyer, &w.seller} {
		w.sayso(s, "interest", "request", of.session, "reveal_identity", "--key", nameKey, "--data", of.Data)
	}
	for _, of := range []*side{&w.seller, &w.buyer} {
		if e := w.waiting(s, of, "consent"); e != nil {
			s.Answer = append(s.Answer, clip(fmt.Sprintf(`%s decides at %s/%s: {"kind":%q,"action":%q,"keys":%q}`, of.Name, of.Inbox, e.ID, e.Kind, e.Action, e.Keys)))
		}
	}
	w.crossing(s, `<- seller: ConsentResponse {"status":"pending_principal_approval"`, `-> seller: ConsentResponse {"status":"pending_principal_approval"`)
}

// waiting waits for a decision of a kind to wait, nil when none comes.
func (w *gidpWalk) waiting(s *Step, of *side, kind string) (found *agent.EntryView) {
	if s.Request == "" {
		s.Request = clip("sayso interest inbox --data " + of.Data)
	}
	if s.Problem != "" {
		return nil
	}
	w.until(s, "a decision of the "+of.Name, func() bool {
		out, _ := w.ask("interest", "inbox", "--data", of.Data)
		for _, e := range elements[agent.EntryView](out, "entries") {
			if e.Kind == kind && e.Session == of.session {
				found = &e
			}
		}
		return found != nil
	})
	return found
}

func (w *gidpWalk) decideNames(s *Step) {
	s.Title, s.Why = "Both principals say yes, twice", "Consent first, and then the value, which has a gate of its own. Only now do names cross, one each."
	for _, kind := range []string{"consent", "disclosure"} {
		for _, of := range []*side{&w.seller, &w.buyer} {
			if e := w.waiting(s, of, kind); e != nil {
				for _, r := range e.Reveals {
					if kind == "consent" {
						continue // the value has its own entry
					}
					s.Answer = append(s.Answer, clip(fmt.Sprintf("the %s is shown what would leave: %s %s", of.Name, r.Key, r.Value)))
				}
				w.sayso(s, "interest", "approve", e.ID, "--data", of.Data)
			}
		}
	}
	for _, of := range [][2]*side{{&w.buyer, &w.seller}, {&w.seller, &w.buyer}} {
		w.until(s, "the name of the "+of[1].Name, func() bool { return s.Problem != "" || w.sessionOf(of[0]).has(of[1].company) })
	}
	var granted []string
	for _, of := range []*side{&w.seller, &w.buyer} {
		granted = append(granted, fmt.Sprintf(`DisclosureResponse {"attribute":%q,"status":"granted","value":%q}`, nameKey, of.company))
	}
	w.crossing(s, granted...)
}

// view is a session as one side sees it.
type view struct{ agent.SessionView }

func (v view) has(name string) bool {
	return slices.ContainsFunc(v.Values, func(value agent.ValueView) bool { got, _ := jcs.Text(value.Value); return got == name })
}

func (w *gidpWalk) sessionOf(of *side) view {
	out, _ := w.ask("interest", "sessions", of.interest, "--data", of.Data)
	for _, v := range elements[agent.SessionView](out, "sessions") {
		if v.ID == of.session {
			return view{v}
		}
	}
	return view{}
}

func (w *gidpWalk) handOver(s *Step) {
	s.Title, s.Why = "They are handed over to people", "For this very target, with its own consent, and without the authority to commit anybody. Here the protocol ends: what follows is theirs."
	w.sayso(s, "interest", "request", w.buyer.session, "handoff", "--target", "human:deal-desk", "--data", w.buyer.Data)
	if e := w.waiting(s, &w.seller, "consent"); e != nil {
		w.sayso(s, "interest", "approve", e.ID, "--data", w.seller.Data)
	}
	w.until(s, "the handover", func() bool { return s.Problem != "" || w.sessionOf(&w.buyer).Reason == "completed" })
	w.crossing(s, `Handoff {"target":{"kind":"human"}`, `SessionClose {"reason":"completed"}`)
	for _, line := range s.Answer {
		s.expect(!strings.Contains(line, "Handoff") || !strings.Contains(line, "COMMIT"), "somebody may commit")
	}
}

func (w *gidpWalk) trail(s *Step) {
	s.Title, s.Why = "And it can be shown afterwards", "Each message that left is derived again from the policy, the authority and the decisions of that moment. The trail holds no value, and a chain of hashes."
	out := w.sayso(s, "interest", "audit", w.seller.interest, "--data", w.seller.Data)
	kinds, order, derived := map[string]int{}, []string{}, 0
	for _, e := range elements[agent.AuditView](out, "entries") {
		if kinds[e.Kind]++; kinds[e.Kind] == 1 {
			order = append(order, e.Kind)
		}
		if e.Derived == "holds" {
			derived++
		}
		s.expect(e.Derived != "differs", "an entry does not follow from its inputs")
	}
	for part := range slices.Chunk(order, 5) {
		var words []string
		for _, kind := range part {
			words = append(words, fmt.Sprintf("%s %d", strings.ReplaceAll(kind, "_", " "), kinds[kind]))
		}
		s.Answer = append(s.Answer, clip(strings.Join(words, " · ")))
	}
	s.Answer = append(s.Answer, fmt.Sprintf("messages that follow from what was recorded: %d, that do not: 0", derived))
	check := w.sayso(s, "interest", "audit", "verify", "--data", w.seller.Data)
	s.Answer = append(s.Answer, clip(pick(check, "ok", "entries", "problems")))
	s.expect(derived > 0 && member(check, "ok") == "true" && !strings.Contains(string(out), w.seller.limit), "the trail does not hold")
}

func (w *gidpWalk) leave(s *Step) {
	s.Title, s.Why = "The buyer has what it wanted", "An interest that ends takes its projection along: the provider acknowledges, and returns it to nobody any more."
	w.end(s, &w.buyer, w.buyer.interest)
	w.crossing(s, "DELETE /projections/")
}

// end revokes an interest and waits until no provider has it.
func (w *gidpWalk) end(s *Step, of *side, interest string) {
	out := w.sayso(s, "interest", "revoke", interest, "--data", of.Data)
	s.expect(text(out, "state") == "REVOKED", "the interest is not revoked")
	w.stands(s, of, interest, "withdrawn")
}

// stands waits until every projection of an interest is in a state.
func (w *gidpWalk) stands(s *Step, of *side, interest, state string) {
	w.until(s, "that it is "+state, func() bool {
		out, _ := w.ask("interest", "show", interest, "--data", of.Data)
		all := elements[agent.ProjectionView](out, "projections")
		return s.Problem != "" || len(all) > 0 && !slices.ContainsFunc(all, func(p agent.ProjectionView) bool { return p.State != state })
	})
}
