package business

import (
	"crypto/ed25519"
	"errors"
	"time"
)

// ErrNetRefused is how a reader passes on in Fetched.Err that its network policy refused an address (X§10.2). Every other error says that a document could
// not be had.
var ErrNetRefused = errors.New("refused by the network policy of the reader")

// ReaderSkew is the allowance of our readers for a signed_at in the future.
const ReaderSkew = 60 * time.Second

// Root is the pinned root of a reader: the bytes of its public key. The kid names it to people and decides nothing (XP-INTEGRITY-015).
type Root struct {
	Kid    string
	Public ed25519.PublicKey
}

// Fetched is one document a reader obtained besides the one it verifies. Err says why there is none; a refusal by network policy matches ErrNetRefused.
type Fetched struct {
	Body []byte
	At   time.Time // when it was read
	Err  error
}

// Evidence is what a verification may rest on. Nil members were not looked for.
type Evidence struct {
	Root           *Root
	RegistryKeys   *Fetched
	PublisherKeys  *Fetched // jwks.json; on a manifest it only tells a publisher's signature from a forged one
	Revocations    *Fetched // the registry's list
	PublisherList  *Fetched // the publisher's list
	Publisher      string   // slug the document is expected to speak for, "" = what it says itself
	Call           *Call    // the call that was sent, nil when the document answers none
	At             time.Time
	FutureSkew     time.Duration // allowance for signed_at in the future: ReaderSkew for our readers
	AcceptUnknown  bool          // policy: an unconfirmed identity may still be usable
	AcceptUnlisted bool          // policy: unchecked or incompletely checked revocation may still be usable
}

// Call is the tool call an envelope must answer (X§8.10). Arguments is the object as sent; nil stands for {}.
type Call struct {
	Tool      string
	Arguments []byte
}

// Finding is one of the parts of a verification, with a code for machines and a sentence for people.
type Finding struct {
	Value   string    `json:"value"`
	Reason  string    `json:"reason,omitempty"`  // machine code, such as digest_mismatch; of Verdict.Usable all that apply, with a comma between them
	Message string    `json:"message,omitempty"` // one sentence
	AsOf    time.Time `json:"as_of,omitzero"`    // revocation: when the older of the verified lists was issued
	Count   int       `json:"count,omitzero"`    // revocation incomplete: entries that could not be matched
}

// Verdict keeps the four findings apart (XP-INTEGRITY-012), with the call, the mirrored members and what a careful reader may do.
type Verdict struct {
	Kind       string  `json:"kind"` // manifest | envelope | revocations | unknown
	Publisher  string  `json:"publisher,omitempty"`
	Signature  Finding `json:"signature"`  // valid | invalid | unsupported | absent
	Identity   Finding `json:"identity"`   // confirmed | unconfirmed | mismatch | broken_chain
	Authority  Finding `json:"authority"`  // current | expired | not_proven | not_stated
	Revocation Finding `json:"revocation"` // clean | revoked | not_checked | incomplete
	Call       Finding `json:"call"`       // match | mismatch | not_applicable
	Mirror     Finding `json:"mirror"`     // ok | mismatch | not_applicable (nothing is signed)
	Usable     Finding `json:"usable"`     // yes | no
}

// Verify judges one document, a manifest, an envelope or a revocation list, against the evidence. It fetches nothing. Every part is judged whatever the
// others say. The error says that the text is no document of this protocol at all: *FormatError.
func Verify(document []byte, e Evidence) (*Verdict, error) {
	d, err := read(document)
	if err != nil {
		return nil, err
	}
	v := newVerifier(&e)
	if d.kind == KindRevocations && d.publisher == "" && e.Revocations == nil {
		v.registryList = &Fetched{Body: document} // the registry's list is its own evidence of what it withdraws
	}
	lists := v.lists(d)
	out := &Verdict{Kind: d.kind, Publisher: d.publisher}
	out.Signature = v.signature(d)
	out.Mirror = d.mirror()
	out.Identity = v.identity(d, &lists[0])
	out.Authority = v.authority(d)
	out.Revocation = v.revocation(d, lists)
	out.Call = v.call(d)
	out.Usable = v.usable(d, out)
	return out, nil
}

// verifier holds the evidence of one verification, read once.
type verifier struct {
	e            *Evidence
	registryList *Fetched
	registry     keySet
	publisher    keySet
	rooted       map[string]string // by registry kid: the outcome of its root signature
}

func newVerifier(e *Evidence) *verifier {
	return &verifier{
		e: e, registryList: e.Revocations, rooted: map[string]string{},
		registry: readKeySet(e.RegistryKeys), publisher: readKeySet(e.PublisherKeys),
	}
}

// lists reads the two lists that speak about a document: the registry's, then the publisher's. A list is itself withdrawn by the registry's only.
func (v *verifier) lists(d *document) []listState {
	registry := v.list(v.registryList, "", nil)
	if d.kind == KindRevocations {
		return []listState{registry}
	}
	return []listState{registry, v.list(v.e.PublisherList, d.publisher, &registry)}
}

// call compares the echoed call with the one that was sent (XP-INTEGRITY-013). Literals count: 50 does not answer 50.0.
func (v *verifier) call(d *document) Finding {
	sent := v.e.Call
	switch {
	case sent == nil:
		return found("not_applicable", "")
	case d.kind != KindEnvelope:
		return found("mismatch", "answers_no_call")
	case d.top.str("tool") != sent.Tool:
		return found("mismatch", "other_tool")
	}
	want, err := canonArguments(sent.Arguments)
	if err != nil {
		return found("mismatch", "call_unreadable")
	}
	echo := d.top.get("arguments")
	if echo == nil || echo.is("null") {
		echo = text("{}")
	}
	if string(echo) != string(want) {
		return found("mismatch", "other_arguments")
	}
	return found("match", "")
}

// canonArguments is the canonical form of a call's arguments; absent and null stand for {}.
func canonArguments(arguments []byte) (text, error) {
	if len(arguments) == 0 {
		return text("{}"), nil
	}
	out, err := Canon(arguments)
	if err == nil && text(out).is("null") {
		return text("{}"), nil
	}
	return out, err
}

// usable says whether a careful reader may act on the document, and names everything that speaks against it.
func (v *verifier) usable(d *document, out *Verdict) Finding {
	var against []string
	add := func(when bool, code string) {
		if when {
			against = append(against, code)
		}
	}
	add(out.Signature.Value != "valid", "signature_"+out.Signature.Value)
	add(out.Mirror.Value == "mismatch", "mirror_mismatch")
	add(out.Call.Value == "mismatch", "call_mismatch")
	id := out.Identity.Value
	add(id != "confirmed" && !(id == "unconfirmed" && v.e.AcceptUnknown), "identity_"+id)
	add(out.Authority.Value == "expired", "authority_expired")
	add(out.Revocation.Value == "revoked", "revoked")
	unchecked := out.Revocation.Value == "not_checked" || out.Revocation.Value == "incomplete"
	add(unchecked && !v.e.AcceptUnlisted, "revocation_"+out.Revocation.Value)
	add(d.signedOK && d.signedAt.After(v.e.At.Add(v.e.FutureSkew)), "signed_in_future")
	return verdictOf(against)
}
