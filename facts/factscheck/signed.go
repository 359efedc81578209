package factscheck

import (
	"crypto/ed25519"
	"errors"
	"fmt"
	"strings"

	"sayso/facts"
	"sayso/facts/factshttp"
	"sayso/jcs"
	"sayso/jwk"
	"sayso/safefetch"
)

// keySet is the publisher's keys by kid, or the reason why a key may not be used.
type keySet struct {
	keys    map[string]facts.PublicKey
	refused string // all keys are refused for this reason
	missing string // the set could not be fetched for this reason
}

// FindKey implements facts.KeySource.
func (k *keySet) FindKey(kid string) (facts.PublicKey, error) {
	if k.refused != "" {
		return facts.PublicKey{}, errors.New(k.refused)
	}
	key, ok := k.keys[kid]
	if !ok {
		return facts.PublicKey{}, fmt.Errorf("unknown key %.128q: the publisher's key set does not list it", kid)
	}
	return key, nil
}

// checkKeySet is item 16.
func (c *checker) checkKeySet() {
	c.keys = &keySet{keys: map[string]facts.PublicKey{}}
	at := c.discovery.Keys
	if at == "" {
		c.keys.refused = "facts.json names no key set"
		c.fail("VF-L3-016a", c.factsURL, "keys is missing", "name the URL of the JWK Set")
		return
	}
	c.checkKeysOwner(at)
	resp, err := c.get(at, "application/jwk-set+json, application/json")
	if err != nil {
		c.keys.missing = "the key set could not be fetched: " + safefetch.Reason(err)
		c.unanswered("VF-L3-016a", at, "the key set could not be fetched", err)
		return
	}
	if resp.FinalURL != "" && factshttp.OriginOf(resp.FinalURL) != factshttp.OriginOf(at) {
		c.keys.refused = "the key set redirects to another origin"
		c.fail("VF-L3-016a", at, "the key set redirects to "+factshttp.OriginOf(resp.FinalURL), "name the place of the key set itself in facts.json")
		return
	}
	var set struct {
		Keys []map[string]jcs.Raw `json:"keys"`
		// Publishers may state their policy in the set itself.
		Policy jcs.Raw `json:"policy"`
	}
	if err := jcs.Decode(resp.Body, &set); resp.Status != 200 || err != nil || set.Keys == nil {
		c.keys.refused = "the key set cannot be used"
		c.fail("VF-L3-016a", at, "the answer ("+status(resp)+") is no JWK Set", `serve {"keys": [...]}`)
		return
	}
	for i, k := range set.Keys {
		c.checkKey(fmt.Sprintf("%s#/keys/%d", at, i), k)
	}
	if len(set.Keys) == 0 {
		c.fail("VF-L3-016a", at, "the key set is empty", "list every key that signed within two years")
	}
	if c.discovery.KeyPolicy == "" && set.Policy == nil {
		c.untested("VF-L3-016e", c.factsURL, "neither facts.json nor the key set points to a policy", "it may be published elsewhere")
	} else {
		c.pass("VF-L3-016e")
	}
}

// checkKeysOwner makes sure that the key set is the one the publisher itself names: a record names any publisher it likes (F§13).
func (c *checker) checkKeysOwner(at string) {
	home := factshttp.OriginOf(c.discovery.Publisher.URL)
	if home == factshttp.OriginOf(c.Origin) {
		return
	}
	url := home + "/.well-known/facts.json"
	resp, err := c.get(url, "")
	if err != nil {
		c.keys.missing = "facts.json at the origin of publisher.url could not be fetched: " + safefetch.Reason(err)
		c.unanswered("VF-L3-015c", url, "the publisher could not be asked for its keys", err)
		return
	}
	var own struct {
		Keys string `json:"keys"`
	}
	if jcs.Decode(resp.Body, &own) != nil || own.Keys != at {
		c.keys.refused = "facts.json at the origin of publisher.url (" + home + ") does not name this key set"
	}
}

// privateMembers of a JWK (RFC 7518, RFC 8037).
var privateMembers = []string{"d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"}

// checkKey is 016 a to d for one key.
func (c *checker) checkKey(place string, k map[string]jcs.Raw) {
	for _, member := range privateMembers {
		c.expect(k[member] == nil, "VF-L3-016d", place, "the key has the private member "+member, "this key is lost: revoke it, sign anew, and serve public members only")
	}
	kid := plainString(k["kid"])
	_, again := c.keys.keys[kid]
	c.expect(kid != "" && !again, "VF-L3-016c", place, fmt.Sprintf("kid %.128q is missing or stands twice", kid), "give each key its own kid")
	from, err := facts.ParseDate(plainString(k["validFrom"]))
	c.expect(err == nil, "VF-L3-016b", place, "validFrom is no calendar day", "write the day on which signing with the key began")
	raw, err := jwk.DecodeBase64URL(plainString(k["x"]))
	var pub ed25519.PublicKey
	if err == nil {
		pub, err = jwk.Accept(raw)
	}
	problem := ""
	switch use, alg := plainString(k["use"]), plainString(k["alg"]); {
	case plainString(k["kty"]) != "OKP" || plainString(k["crv"]) != "Ed25519":
		problem = "the key is not an Ed25519 key (OKP)"
	case k["use"] != nil && use != "sig", k["alg"] != nil && alg != "EdDSA":
		problem = "use is not sig, or alg is not EdDSA"
	case err != nil:
		problem = err.Error()
	}
	retired, ok1 := optionalDate(k["retired"])
	revoked, ok2 := optionalDate(k["revoked"])
	if problem == "" && !(ok1 && ok2) {
		problem = "retired or revoked is no calendar day"
	}
	if c.expect(problem == "", "VF-L3-016a", place, problem, "list Ed25519 keys with kty, crv, x, kid, use and alg") && !again {
		c.keys.keys[kid] = facts.PublicKey{Kid: kid, Key: pub, ValidFrom: from, Retired: retired, Revoked: revoked}
	}
	if again {
		c.keys.refused = "two entries of the key set have one kid, so the set is refused"
	}
}

func optionalDate(raw jcs.Raw) (facts.Date, bool) {
	if raw == nil || string(raw) == "null" {
		return 0, true
	}
	d, err := facts.ParseDate(plainString(raw))
	return d, err == nil
}

// checkSignatures is item 15: the four parts for every record.
func (c *checker) checkSignatures() {
	for _, f := range c.records {
		o := facts.VerifyOptions{Today: c.today(), MaxAge: facts.NoMaxAge, Keys: c.keys}
		if c.keys.missing != "" {
			o.Keys, o.KeysNote = nil, c.keys.missing
		} else if f.record.Publisher.URL != c.discovery.Publisher.URL {
			o.Keys = &keySet{refused: "the record names another publisher than facts.json, and readers look for its keys there"}
		} else if s := f.record.Signature; s != nil && s.Keys != c.discovery.Keys {
			o.Keys = &keySet{refused: "signature.keys is not the key set that facts.json names"}
		}
		c.checkParts(f, facts.Verify(f.record, o))
	}
}

func (c *checker) checkParts(f *fetched, v facts.Verification) {
	c.expect(v.Hash.Value == facts.PartValid, "VF-L3-015a", f.at, v.Hash.Reason, "hash the claim as served, then sign again")
	c.checkPart("VF-L3-015b", f.at, "signature "+v.Signature.Value, v.Signature, facts.PartValid, "sign the record at build time with a key of the key set")
	if f.record.Signature != nil {
		c.checkPart("VF-L3-015c", f.at, "key acceptable: "+v.KeyAcceptable.Value, v.KeyAcceptable, facts.PartYes, "sign again with a key that is listed and not revoked")
	}
	switch v.ClaimCurrent.Value {
	case facts.PartCurrent, facts.PartWithdrawn:
		c.pass("VF-L3-015d")
	case facts.PartFuture:
		c.fail("VF-L3-015d", f.at, v.ClaimCurrent.Reason, "a verification lies in the past: repair the date")
	default:
		c.warn("VF-L3-015d", f.at, v.ClaimCurrent.Value+": "+v.ClaimCurrent.Reason, "read the source again and confirm, or add the value that is in force")
	}
	for _, w := range v.Warnings {
		c.warn("VF-L3-015b", f.at, w, "")
	}
}

func (c *checker) checkPart(rule, at, what string, p facts.Part, want, next string) {
	switch p.Value {
	case want:
		c.pass(rule)
	case facts.PartNotTested:
		c.untested(rule, at, what, p.Reason)
	default:
		c.fail(rule, at, strings.TrimSuffix(what+": "+p.Reason, ": "), next)
	}
}

// selfCheckDays is how old the publisher's last check of itself may be before it is worth a warning.
const selfCheckDays = 31

// checkPointers is item 18.
func (c *checker) checkPointers() {
	s := c.discovery.SelfCheck
	if s == nil {
		c.untested("VF-L3-018a", c.factsURL, "facts.json has no selfCheck", "the schedule may be stated elsewhere")
		c.untested("VF-L3-018b", c.factsURL, "facts.json has no selfCheck", "the schedule may be stated elsewhere")
		return
	}
	c.expect(s.Schedule != "", "VF-L3-018a", c.factsURL, "selfCheck has no schedule", "say how often the live output is verified")
	last, err := facts.ParseDate(s.Last)
	switch age := int(c.today() - last); {
	case err != nil:
		c.untested("VF-L3-018b", c.factsURL, "selfCheck.last is no calendar day", "the age of the last check is unknown")
	case age > selfCheckDays:
		c.warn("VF-L3-018b", c.factsURL, fmt.Sprintf("the last check is %d days old", age), "run the check, and see why the schedule did not")
	default:
		c.pass("VF-L3-018b")
	}
}
