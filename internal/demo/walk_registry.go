package demo

import (
	"archive/tar"
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"sayso/jcs"
	"sayso/safefetch"
)

// RegistryWalk are the inputs of WalkRegistry.
type RegistryWalk struct {
	Reader Options // the public side
	Admin  string  // origin of the private listener
	Token  string  // an operator's
	Guest  string  // slug of the publisher that the walk makes, publishes and withdraws
	Pin    string  // file with the root, as it is shown
	// PutTXT puts a record into the DNS in which the registry looks for proofs.
	PutTXT func(name, value string) error
}

// The bundle of the guest.
const (
	guestProfile = `{"display_name":"The Demo Shop","content_languages":["en"],"business_category":"hardware shop",
 "locations":[{"id":"main","primary":true,"name":"Main","address":"1 Sample Street","opening_hours":"Mo-Fr 09:00-18:00","time_zone":"Europe/London"}]}`
	guestSchema  = `{"attributes":{"price":{"currency":"GBP","field":"price","kind":"money"}},"types":{"service":{"words":{"en":["service"]}}}}`
	guestRecords = "type,id,title,price\nservice,repair,Tool repair,40\nservice,hire,Tool hire,25\n"
	faultyRecord = "type,id,title,price\nservice,repair,Tool repair,\"1.234,50\"\n"
)

// WalkRegistry takes a business through the registry, from its first entry to its withdrawal, and reads it as a stranger would. The error is of the context.
func WalkRegistry(ctx context.Context, o RegistryWalk, show func(Step)) error {
	admin := newOffice(ctx, o.Admin)
	defer admin.close()
	w := &registryWalk{walk: walk{ctx: ctx, Options: o.Reader}, RegistryWalk: o, admin: admin}
	return w.take(show,
		w.create, w.token, w.faulty, w.imported, w.challenge, w.proven, w.publish,
		w.manifest, w.profile, w.oneRecord, w.export, w.discover,
		w.verify, w.tampered, w.revoke, w.revoked, w.pause, w.resume, w.withdraw)
}

type registryWalk struct {
	walk
	RegistryWalk
	admin    *office
	owner    string // the guest's own token
	document []byte // the guest's manifest as it was read
	page     string // of the guest
}

func (w *registryWalk) create(s *Step) {
	s.Title, s.Why = "An operator lets a business in", "A name is given once and never again. Nothing of the business is public yet, and nobody has checked it."
	body := w.act(s, w.Token, "/publishers", fmt.Sprintf(`{"slug":%q,"display_name":"The Demo Shop"}`, w.Guest), http.StatusCreated, "publisher", "revision", "at")
	s.Request = fmt.Sprintf("curl -X POST -H 'Authorization: Bearer %s' -H 'Content-Type: application/json' -d @- %s/api/v1/publishers", shorten(w.Token), w.Admin)
	s.expect(member(body, "publisher") == fmt.Sprintf("%q", w.Guest), "the publisher was not made")
}

func (w *registryWalk) token(s *Step) {
	s.Title, s.Why = "The business gets a token of its own", "It is shown once and kept as a hash. It opens this publisher's acts and nothing of anybody else's."
	body := w.act(s, w.Token, w.own("/tokens"), `{"scopes":["import","publish","keys"],"name":"shop"}`, http.StatusCreated)
	w.owner = text(body, "token")
	s.Answer = append(s.Answer, clip(fmt.Sprintf(`201 {"token":%q,"id":%s,"scopes":%s}`, shorten(w.owner), member(body, "id"), member(body, "scopes"))))
	s.expect(strings.HasPrefix(w.owner, "sayso-owner-"), "there is no token in the answer")
}

func (w *registryWalk) faulty(s *Step) {
	s.Title, s.Why = "A price that could be two prices", "Nothing is guessed: the row, the field and the rule are named, and nothing of the file is taken."
	body := w.admin.send(s, w.owner, w.own("/import?dry_run=true"), "text/csv", []byte(faultyRecord), "records.csv: "+strings.TrimSpace(faultyRecord[strings.Index(faultyRecord, "\n"):]), http.StatusBadRequest)
	s.Answer = append(s.Answer, clip("400 "+pick(body, "error", "message")))
	var doc struct {
		Problems []jcs.Raw `json:"problems"`
	}
	s.expect(jcs.Decode(body, &doc) == nil && len(doc.Problems) == 1, "the answer does not name one problem")
	for _, p := range doc.Problems {
		s.Answer = append(s.Answer, clip(pick(p, "row", "field", "rule", "message")))
	}
}

func (w *registryWalk) imported(s *Step) {
	s.Title, s.Why = "Its profile, vocabulary and records", "One import is one generation, or none. Records say what is offered; what they do not mention is not stated, which is not the same as no."
	archive, err := bundleOf(map[string]string{"publisher.json": guestProfile, "schema.json": guestSchema, "records.csv": guestRecords})
	s.expect(err == nil, "the bundle could not be made: %v", err)
	body := w.admin.send(s, w.owner, w.own("/import"), "application/x-tar", archive, "publisher.json, schema.json, records.csv in a tar", http.StatusOK, "read", "written", "removed", "skipped", "generation")
	s.expect(member(body, "written") == "2", "two records were not written")
}

func (w *registryWalk) challenge(s *Step) {
	s.Title, s.Why = "It claims a domain", "The registry says what to publish and where. Whoever can do that controls the name."
	body := w.act(s, w.owner, w.own("/proofs"), w.host(), http.StatusCreated, "place", "value", "expires_at")
	place, value := text(body, "place"), text(body, "value")
	if s.expect(place != "" && value != "", "the answer does not say what to publish"); s.Problem == "" {
		err := w.PutTXT(place, value)
		s.expect(err == nil, "the record could not be put into the DNS: %v", err)
		s.Answer = append(s.Answer, clip("the demonstration's own DNS now answers: "+place+" TXT "+value))
	}
}

func (w *registryWalk) proven(s *Step) {
	s.Title, s.Why = "And proves it", "The proof holds for 90 days and is looked at again in between. Without it, or two operators who vouch, nothing can be published."
	body := w.act(s, w.owner, w.own("/proofs/check"), w.host(), http.StatusOK, "host", "method", "proven", "reason", "valid_until")
	s.expect(member(body, "proven") == "true", "the host is not proven")
}

func (w *registryWalk) publish(s *Step) {
	s.Title, s.Why = "It publishes", "In the same commit it got a signing key, attested by the registry key, which the root has signed."
	body := w.act(s, w.owner, w.own("/publish"), "", http.StatusOK, "publisher", "revision", "generation", "at")
	s.expect(member(body, "publisher") != "", "nothing was published")
}

func (w *registryWalk) manifest(s *Step) {
	s.Title, s.Why = "A stranger reads the manifest", "The registry signs its own judgement, who this is and how that was checked, never that the offers are true."
	w.document = w.fetch(s, w.tenant("manifest.json"), http.StatusOK)
	info, _ := jcs.Members([]byte(member(w.document, "publisher")))
	s.expect(len(info) > 0, "there is no publisher in the manifest")
	s.Answer = append(s.Answer, clip("200 "+pick([]byte(member(w.document, "publisher")), "tenant", "display_name", "proven_domain", "verification_method", "trust_tier")))
	s.Answer = append(s.Answer, clip(pick([]byte(member(w.document, "attestation")), "alg", "kid", "digest")))
	s.Answer = append(s.Answer, clip(pick([]byte(member(w.document, "state")), "generation", "content_hash", "changed_at")), clip(pick(w.document, "signed_at", "expires_at")))
	w.page = strings.TrimPrefix(text([]byte(member(w.document, "endpoints")), "public_profile"), w.Origin)
	s.expect(strings.HasPrefix(w.page, "/"), "the manifest names no profile at this origin")
}

func (w *registryWalk) profile(s *Step) {
	s.Title, s.Why = "The profile", "A browser gets a page at the same address; programs ask for JSON."
	body := w.fetch(s, w.page, http.StatusOK, "publication", "data_last_updated", "record_types", "more_records")
	s.expect(strings.Contains(member(body, "record_types"), `"service"`), "the profile names no services")
}

func (w *registryWalk) oneRecord(s *Step) {
	s.Title, s.Why = "One record", "The price is the number that the business wrote: nothing is converted, rounded or filled in."
	body := w.fetch(s, w.page+"/service/repair", http.StatusOK, "type", "id", "title", "attributes", "url")
	s.expect(member([]byte(member(body, "attributes")), "price") == "40", "the price is not 40")
}

func (w *registryWalk) export(s *Step) {
	s.Title, s.Why = "Everything at once", "The first line says of which state this is; every line behind it is a record."
	body := w.fetch(s, w.page+"/dump.jsonl", http.StatusOK)
	lines := strings.Split(strings.TrimSpace(string(body)), "\n")
	s.Answer = append(s.Answer, clip("200 "+lines[0]), fmt.Sprintf("and %d lines of records", len(lines)-1))
	s.expect(member([]byte(lines[0]), "_meta") != "" && len(lines) == 3, "the export is not one line about itself and two records")
}

func (w *registryWalk) discover(s *Step) {
	s.Title, s.Why = "Who is there?", "No ranking and nothing paid for: who matches what was asked. Who did not state it is counted, not taken for a no."
	body := w.fetch(s, "/discovery/query?category=hardware+shop", http.StatusOK, "not_stated_count", "evidence_complete")
	var doc struct {
		Results []jcs.Raw `json:"results"`
	}
	s.expect(jcs.Decode(body, &doc) == nil, "the answer cannot be read")
	for _, r := range doc.Results[:min(len(doc.Results), 5)] {
		s.Answer = append(s.Answer, clip(pick(r, "publisher", "display_name", "business_category", "public_profile")))
	}
	s.expect(slices.ContainsFunc(doc.Results, func(r jcs.Raw) bool { return text(r, "publisher") == w.Guest }), "%s was not found", w.Guest)
}

func (w *registryWalk) verify(s *Step) {
	s.Title, s.Why = "Four findings against the pinned root", "Each question has its own answer. Keys and lists are fetched from where the document says and believed only as far as the root reaches."
	w.command(s, nil, 0, "verify", w.Origin+w.page, "--root", w.Pin)
	s.finds("signature valid", "identity confirmed", "authority current", "revocation clean", "usable yes")
}

func (w *registryWalk) tampered(s *Step) {
	s.Title, s.Why = "One byte changed on the way", "The Demo Shop became The Demo Shot: the signature does not cover that, and whoever relies on the document is told to stop."
	changed := bytes.Replace(w.document, []byte("The Demo Shop"), []byte("The Demo Shot"), 1)
	w.verifyCopy(s, changed)
	s.finds("signature invalid", "usable no")
}

// verifyCopy verifies a document that lies here. It names its keys itself, so an origin on this machine has to be allowed.
func (w *registryWalk) verifyCopy(s *Step, document []byte) {
	s.Body = clip(pick([]byte(member(document, "publisher")), "tenant", "display_name", "proven_domain") + " " + pick(document, "signed_at", "signing_kid"))
	w.command(s, document, 1, "verify", "-", "--root", w.Pin, "--allow-loopback")
}

// finds expects lines of an answer that begin with these texts.
func (s *Step) finds(texts ...string) {
	for _, text := range texts {
		s.expect(slices.ContainsFunc(s.Answer, func(line string) bool { return strings.HasPrefix(line, text) }), "%q was not found", text)
	}
}

func (w *registryWalk) revoke(s *Step) {
	s.Title, s.Why = "The business takes a document back", "By its digest, so that exactly this one is meant. The list is signed, and a reader who cannot get a fresh one is told so."
	digest := member([]byte(member(w.document, "attestation")), "digest")
	body := w.act(s, w.owner, w.own("/revocations"), `{"digest":`+digest+`,"reason":"superseded"}`, http.StatusOK, "publisher", "revision", "at")
	s.expect(digest != "" && member(body, "publisher") != "", "nothing was revoked")
}

func (w *registryWalk) revoked(s *Step) {
	s.Title, s.Why = "A copy that somebody kept", "Its signature is as good as ever. That it was withdrawn is another finding, and it decides."
	w.verifyCopy(s, w.document)
	s.finds("signature valid", "revocation revoked", "usable no")
}

func (w *registryWalk) pause(s *Step) {
	s.Title, s.Why = "It pauses", "Content is gone at once and looks as if it had never been there. Manifest, keys and lists stay, so that what was signed can be judged."
	body := w.act(s, w.owner, w.own("/pause"), "", http.StatusOK, "publisher", "revision")
	s.expect(member(body, "publisher") != "", "it was not paused")
	for _, path := range []string{w.page, w.page + "/dump.jsonl"} {
		w.look(s, path, http.StatusNotFound, "error")
	}
	manifest := w.look(s, w.tenant("manifest.json"), http.StatusOK, "publication")
	s.expect(member([]byte(member(manifest, "publication")), "published") == "false", "the manifest does not say that it is not published")
	keys := w.look(s, w.tenant("jwks.json"), http.StatusOK)
	s.expect(strings.Contains(string(keys), `"kid"`), "the keys are gone")
}

func (w *registryWalk) resume(s *Step) {
	s.Title, s.Why = "And resumes", "The same content at the same addresses, under a new signature."
	body := w.act(s, w.owner, w.own("/resume"), "", http.StatusOK, "publisher", "revision")
	s.expect(member(body, "publisher") != "", "it was not resumed")
	w.look(s, w.page, http.StatusOK, "publication")
}

func (w *registryWalk) withdraw(s *Step) {
	s.Title, s.Why = "An operator ends it for good", "The name stays taken. Both revocation lists say so, and every document it ever had is withdrawn with it."
	body := w.act(s, w.Token, w.own("/withdraw"), `{"reason":"the demonstration is over"}`, http.StatusOK, "publisher", "revision")
	s.expect(member(body, "publisher") != "", "it was not withdrawn")
	w.look(s, w.page, http.StatusNotFound, "error")
	list := w.look(s, "/.well-known/x-protocol/revocations.json", http.StatusOK)
	var doc struct {
		Entries []jcs.Raw `json:"entries"`
	}
	s.expect(jcs.Decode(list, &doc) == nil && len(doc.Entries) > 0, "the registry's list is empty")
	for _, e := range doc.Entries[max(0, len(doc.Entries)-1):] {
		s.Answer = append(s.Answer, clip(string(e)))
		s.expect(text(e, "subject") == w.Guest, "the newest entry of the registry's list is another one")
	}
}

// own is a path of the admin API below the guest.
func (w *registryWalk) own(path string) string { return "/publishers/" + w.Guest + path }

// tenant is the path of one of the guest's documents.
func (w *registryWalk) tenant(document string) string {
	return "/t/" + w.Guest + "/.well-known/x-protocol/" + document
}

func (w *registryWalk) host() string {
	return fmt.Sprintf(`{"host":"%s.example","method":"dns_txt"}`, w.Guest)
}

// act posts a JSON body to the admin API and shows members of the answer, when some are named.
func (w *registryWalk) act(s *Step, token, path, body string, status int, members ...string) []byte {
	return w.admin.send(s, token, path, "application/json", []byte(body), body, status, members...)
}

// look reads a public path within a step and shows one line of what came.
func (w *registryWalk) look(s *Step, path string, status int, members ...string) []byte {
	r, err := w.Fetch.Do(w.ctx, safefetch.Request{URL: w.Origin + path, Header: http.Header{"Accept": {"application/json"}}})
	if err != nil {
		s.expect(false, "%v", err)
		return nil
	}
	line := fmt.Sprintf("GET %s: %d", path, r.Status)
	if len(members) > 0 {
		line += " " + pick(r.Body, members...)
	}
	s.Answer = append(s.Answer, clip(line))
	s.expect(r.Status == status, "the status of %s is %d, not %d", path, r.Status, status)
	return r.Body
}

// bundleOf packs the files of a bundle.
func bundleOf(files map[string]string) ([]byte, error) {
	var b bytes.Buffer
	archive := tar.NewWriter(&b)
	for name, content := range files {
		if err := archive.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: int64(len(content))}); err != nil {
			return nil, err
		}
		if _, err := archive.Write([]byte(content)); err != nil {
			return nil, err
		}
	}
	err := archive.Close()
	return b.Bytes(), err
}

// text is a member that is a string, "" when there is none.
func text(object []byte, name string) string {
	var s string
	if jcs.Decode([]byte(member(object, name)), &s) != nil {
		return ""
	}
	return s
}

// shorten shows enough of a token to tell it from others, and not enough to use it.
func shorten(token string) string {
	const shown = len("sayso-operator-") + 4
	if len(token) <= shown {
		return token
	}
	return token[:shown] + "…"
}
