package agent

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"unicode/utf8"

	"sayso/gidp/session"
	"sayso/internal/agent/durable"
	"sayso/internal/vault"
	"sayso/jcs"
)

// A session is kept in parts, so that a step writes what it changes and not all that was ever said. Part 0 is what stands from the opening on; each part behind it
// holds blockClaims claims in the order in which they were asked; the rest is in the row. The row names the parts by their SHA-256: one of another moment does not pass
// for its own. A row without names holds everything.

// blockClaims is how many claims are one part.
const blockClaims = 16

// standing is what of a session seldom changes after its opening.
type standing struct {
	Key        jcs.Raw     `json:"key,omitzero"`       // private JWK of this side, of this session alone
	Mandate    string      `json:"mandate,omitzero"`   // of this side, with all it could disclose
	Attested   []shownForm `json:"attested,omitempty"` // what an issuer attests of this side, as it was shown
	PeerKey    jcs.Raw     `json:"peer_key,omitzero"`  // public JWK that signs what the peer says
	Peer       peerForm    `json:"peer,omitzero"`
	Endpoint   string      `json:"endpoint,omitzero"`   // of the initiator
	Projection string      `json:"projection,omitzero"` // of the initiator: projection_ref of the returning provider
	Task       string      `json:"task,omitzero"`       // of the initiator
}

func partPlace(id string, part int) string {
	return "part/" + id + "/" + strconv.Itoa(part)
}

var errParts = fmt.Errorf("the parts of a session are not those that its row names: %w", vault.ErrSeal)

// sessionBody opens a session with all its parts.
func (a *Agent) sessionBody(ctx context.Context, r durable.Reader, row durable.SessionRow) (body sessionBody, err error) {
	if err := a.unseal(sessionPlace(row.ID), row.Body, &body); err != nil || len(body.Parts) == 0 {
		return body, err
	}
	parts, err := r.Parts(ctx, row.ID)
	if err != nil {
		return body, err
	}
	if len(parts) != len(body.Parts) {
		return body, errParts
	}
	var claims []session.Proposition
	for i, part := range parts {
		text, err := a.Vault.Unseal(partPlace(row.ID, part.Part), part.Body)
		if err != nil {
			return body, err
		}
		if part.Part != i || sumOf(text) != body.Parts[i] {
			return body, errParts
		}
		if i == 0 {
			if jcs.DecodeKnown(text, &body.standing) != nil {
				return body, errParts
			}
			continue
		}
		list, err := session.ParsePropositions(text)
		if err != nil || len(list) != blockClaims {
			return body, errParts
		}
		claims = append(claims, list...)
	}
	body.State.Props = append(claims, body.State.Props...)
	return body, nil
}

// parts are those of a session as they are kept: their sums, and what they say, which nobody writes to.
type parts struct {
	sums   []string
	first  *standing
	claims []session.Proposition
}

// keeps takes the parts behind the first from a body that was opened or saved.
func (p *parts) keeps(body *sessionBody) {
	n := max(len(body.Parts)-1, 0) * blockClaims
	p.sums, p.claims = body.Parts, body.State.Props[:n:n]
}

// cut divides what was asked by now into parts, whose sums it returns, and a rest. changed gets the text of each part that is not kept yet.
func (p parts) cut(props []session.Proposition, changed func(part int, text []byte) error) (sums []string, rest []session.Proposition, err error) {
	for part := 1; len(props) >= blockClaims; part++ {
		list := props[:blockClaims]
		if props = props[blockClaims:]; part < len(p.sums) && equalClaims(list, p.claims[(part-1)*blockClaims:]) {
			sums = append(sums, p.sums[part])
			continue
		}
		text, err := session.AppendPropositions(nil, list)
		if err != nil {
			return nil, nil, fmt.Errorf("the claims of a session: %w", err)
		}
		sums = append(sums, sumOf(text))
		if err := changed(part, text); err != nil {
			return nil, nil, err
		}
	}
	return sums, props, nil
}

func equalClaims(list, other []session.Proposition) bool {
	for i := range list {
		if !list[i].Equal(&other[i]) {
			return false
		}
	}
	return true
}

// keepParts writes the parts that a step changed and returns the text of the row, and the digest of the state.
func (t *turn) keepParts(ctx context.Context) (text []byte, digest string, err error) {
	keep := func(part int, text []byte) error {
		sealed, err := t.a.Vault.Seal(partPlace(t.row.ID, part), text)
		if err != nil {
			return err
		}
		return t.w.PutPart(ctx, durable.PartRow{Session: t.row.ID, Part: part, Body: sealed})
	}
	first := ""
	if t.kept.first != nil && reflect.DeepEqual(t.kept.first, &t.body.standing) {
		first = t.kept.sums[0]
	} else {
		text, err := jcs.Encode(&t.body.standing)
		if err != nil {
			return nil, "", err
		}
		t.kept.first = new(standing) // shares nothing with what goes on to change
		if err := jcs.DecodeKnown(text, t.kept.first); err != nil {
			return nil, "", err
		}
		first = sumOf(text)
		if len(t.kept.sums) == 0 || first != t.kept.sums[0] {
			if err := keep(0, text); err != nil {
				return nil, "", err
			}
		}
	}
	sums, rest, err := t.kept.cut(t.body.State.Props, keep)
	if err != nil {
		return nil, "", err
	}
	t.body.Parts = slices.Insert(sums, 0, first)
	t.kept.keeps(&t.body)
	return bodyText(t.body, rest)
}

// bodyText writes what of a session is in its row, with the claims that are in no part, and the digest of its state, which is written once.
func bodyText(body sessionBody, rest []session.Proposition) (text []byte, digest string, err error) {
	const name = `{"state":`
	body.State.Props = rest
	text, err = body.State.Append([]byte(name))
	if err != nil {
		return nil, "", err
	}
	digest = digestOf(text[len(name):], body.Parts[1:])
	body.State, body.standing = session.State{}, standing{}
	text, err = body.append(append(text, ','))
	return append(text, '}'), digest, err
}

// append writes the members of a body. What a question and its answer change is written by hand, as its tags say; where there is more, by reflection, which takes ten
// times as long.
func (b *sessionBody) append(dst []byte) ([]byte, error) {
	rest := *b
	rest.Parts, rest.Sent, rest.Active, rest.Objects, rest.Bytes, rest.Network = nil, 0, 0, 0, 0, ""
	if !reflect.ValueOf(&rest).Elem().IsZero() || !utf8.ValidString(b.Network) {
		text, err := jcs.Encode(b)
		if err != nil {
			return nil, err
		}
		return append(dst, text[1:len(text)-1]...), nil // there are members that are always written
	}
	if len(b.Parts) > 0 {
		dst = append(dst, `"parts":`...)
		for i, sum := range b.Parts { // base64url
			dst = append(append(append(dst, "[,"[min(i, 1)], '"'), sum...), '"')
		}
		dst = append(dst, "],"...)
	}
	dst = strconv.AppendInt(append(dst, `"sent":`...), int64(b.Sent), 10)
	if b.Active != 0 {
		dst = strconv.AppendInt(append(dst, `,"active":`...), b.Active, 10)
	}
	if b.Objects != 0 {
		dst = strconv.AppendInt(append(dst, `,"objects":`...), int64(b.Objects), 10)
	}
	if b.Bytes != 0 {
		dst = strconv.AppendInt(append(dst, `,"bytes":`...), int64(b.Bytes), 10)
	}
	if b.Network != "" {
		dst = jcs.AppendString(append(dst, `,"network":`...), b.Network)
	}
	return dst, nil
}

// text writes what was sent as its tags say.
func (b *sentBody) text() ([]byte, error) {
	if b.Signature != "" || b.Evidence != nil || b.Hint != nil || b.Key != nil || b.Open {
		return jcs.Encode(b)
	}
	dst := make([]byte, 0, len(b.Object)+64)
	dst = append(dst, '{')
	if len(b.Object) > 0 {
		dst = append(append(append(dst, `"object":`...), b.Object...), ',') // the codec has written it
	}
	return append(strconv.AppendInt(append(dst, `"expires":`...), b.Expires, 10), '}'), nil
}

// stateDigest names a state in the trail.
func (t *turn) stateDigest(st session.State) (string, error) {
	sums, rest, err := t.kept.cut(st.Props, func(int, []byte) error { return nil })
	if err != nil {
		return "", err
	}
	st.Props = rest
	text, err := st.Append(nil)
	if err != nil {
		return "", fmt.Errorf("the state of a session: %w", err)
	}
	return digestOf(text, sums), nil
}

// digestOf is the half of a SHA-256 over a canonical state without the claims that are in parts, and the sums of these behind it.
func digestOf(state []byte, sums []string) string {
	h := sha256.New()
	h.Write(state)
	for _, sum := range sums {
		h.Write([]byte(sum))
	}
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil)[:16])
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
