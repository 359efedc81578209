package main

import (
	"bytes"
	"crypto/ed25519"
	"errors"
	"fmt"
	"time"

	"sayso/business"
	"sayso/jcs"
	"sayso/jwk"
)

// check is one raw signature of a chain.
type check struct {
	public    ed25519.PublicKey
	digest    []byte
	signature []byte
}

// chain is an envelope with everything that its verification rests on, and the signatures in it.
type chain struct {
	document []byte
	evidence business.Evidence
	checks   []check
}

// measureChain compares the verification of an envelope with its whole chain with the raw signature checks it contains.
func measureChain(r *report, p *plan) error {
	c, err := newChain()
	if err != nil {
		return err
	}
	if err := c.stands(); err != nil {
		return err
	}
	both, err := alternate(p.short, perOperation(p.stretch, c.verify), perOperation(p.stretch, c.raw))
	if err != nil {
		return err
	}
	r.title("One envelope of %d bytes verified with its chain: root, registry key, attestation, publisher key, both lists, call; baseline: ed25519.Verify of its %d signatures",
		len(c.document), len(c.checks))
	r.table("ours ms|baseline ms|ratio", fmt.Sprintf("%s|%s|%.3f", ms(median(both.ours)), ms(median(both.theirs)), both.ratio()))
	r.bound(line{name: "xp-verify", ratio: both.ratio(), bound: 2})
	return nil
}

// envelope is an answer before it is signed.
const envelope = `{"registry":"x-protocol/v1","publisher":{"tenant":"harbour-optics","display_name":"Harbour Optics","website_verified":true,"proven_domain":"optics.example",` +
	`"verification_method":"dns_txt","authority_verified_at":"2026-11-01T09:00:00Z","trust_tier":"domain_verified"},"tool":"search","arguments":{"query":"varifocal lenses"},` +
	`"result":{"records":[{"id":"varifocal","type":"product","title":"Varifocal lenses","publisher":"harbour-optics","summary":"For reading and distance"}],"locations":[]},` +
	`"coverage":{"status":"resolved","covered":true,"answers_request":true,"evidence_complete":true,"unresolved":[]},"freshness":{"sla_seconds":86400,"any_stale":false},` +
	`"served_at":"2026-11-30T12:00:00Z","latency_ms":3,"revocation_url":"https://registry.example/t/harbour-optics/.well-known/x-protocol/revocations.json"}`

func newChain() (*chain, error) {
	const keysURL, ownURL = "https://registry.example/.well-known/x-protocol/registry-keys.json", "https://registry.example/t/harbour-optics/.well-known/x-protocol/jwks.json"
	made, at := time.Date(2026, 6, 1, 0, 0, 0, 0, time.UTC), time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)
	c := &chain{}
	key := func(kid string, b byte) *jwk.PrivateKey {
		k, err := jwk.Generate(kid, bytes.NewReader(bytes.Repeat([]byte{b}, ed25519.SeedSize)))
		if err != nil {
			panic(err) // 32 bytes are a seed
		}
		return k
	}
	root, registry := key("root-1", 1), key("registry-1", 2)
	own := key(business.PublisherKid(shop, key("any", 3).Public().Public), 3)
	rootEntry, err := business.NewRegistryKey(root.Kid(), business.RoleRoot, root.Public().Public, made, made.AddDate(10, 0, 0))
	if err != nil {
		return nil, err
	}
	entry, err := business.NewRegistryKey(registry.Kid(), business.RoleSigning, registry.Public().Public, made, made.AddDate(1, 0, 0))
	if err == nil {
		entry, err = business.SignEntry(entry, business.Family, business.KeySigner(root), made)
	}
	if err != nil {
		return nil, err
	}
	attested, err := business.Attest(own.Public().Public, own.Kid(), shop, made.Format(time.RFC3339), business.KeySigner(registry), keysURL, made)
	if err != nil {
		return nil, err
	}
	c.document, err = business.SignDocument([]byte(envelope), business.Signing{
		Signer: business.KeySigner(own), SignedAt: at, ExpiresAt: at.Add(15 * time.Minute), KeysURL: ownURL, KeysName: "jwks_url",
	})
	if err != nil {
		return nil, err
	}
	var lists [2][]byte
	for i, publisher := range []string{"", shop} {
		if lists[i], err = business.RevocationList(publisher, nil, business.KeySigner(registry), keysURL, at); err != nil {
			return nil, err
		}
	}
	fetched := func(v any) *business.Fetched {
		text, _ := jcs.Encode(v)
		return &business.Fetched{Body: text, At: at}
	}
	c.evidence = business.Evidence{
		Root:          &business.Root{Kid: root.Kid(), Public: root.Public().Public},
		RegistryKeys:  fetched(business.RegistryKeys{Registry: business.Family, IssuedAt: at, MaxAgeSeconds: 86400, Keys: []business.RegistryKey{rootEntry, entry}}),
		PublisherKeys: fetched(business.PublisherKeys{Keys: []business.PublisherKey{attested}}),
		Revocations:   fetched(jcs.Raw(lists[0])), PublisherList: fetched(jcs.Raw(lists[1])),
		Publisher: shop, Call: &business.Call{Tool: "search", Arguments: []byte(`{"query":"varifocal lenses"}`)}, At: at.Add(time.Minute), FutureSkew: business.ReaderSkew,
	}
	err = errors.Join(c.add(root, entry.RootSignature.Digest, entry.RootSignature.Signature), c.add(registry, attested.Attestation.Digest, attested.Attestation.Signature),
		c.addOf(own, c.document), c.addOf(registry, lists[0]), c.addOf(registry, lists[1]))
	return c, err
}

func (c *chain) add(key *jwk.PrivateKey, digest, signature string) error {
	d, err1 := jwk.DecodeBase64URL(digest)
	s, err2 := jwk.DecodeBase64URL(signature)
	c.checks = append(c.checks, check{key.Public().Public, d, s})
	return errors.Join(err1, err2)
}

func (c *chain) addOf(key *jwk.PrivateKey, document []byte) error {
	var d struct {
		Attestation struct {
			Digest    string `json:"digest"`
			Signature string `json:"signature"`
		} `json:"attestation"`
	}
	if err := business.Decode(document, &d); err != nil {
		return err
	}
	return c.add(key, d.Attestation.Digest, d.Attestation.Signature)
}

func (c *chain) verify() error {
	v, err := business.Verify(c.document, c.evidence)
	if err == nil && v.Usable.Value != "yes" {
		err = fmt.Errorf("the envelope does not verify: %+v", v)
	}
	return err
}

func (c *chain) raw() error {
	for i := range c.checks {
		if k := &c.checks[i]; !ed25519.Verify(k.public, k.digest, k.signature) {
			return fmt.Errorf("signature %d of the chain does not verify", i)
		}
	}
	return nil
}

// stands reports an error when one of the signatures is not part of the verification: with any of them spoiled it must fail.
func (c *chain) stands() error {
	if err := errors.Join(c.raw(), c.verify()); err != nil {
		return err
	}
	e := &c.evidence
	for i, body := range []*[]byte{&e.RegistryKeys.Body, &e.PublisherKeys.Body, &c.document, &e.Revocations.Body, &e.PublisherList.Body} {
		good := *body
		text := []byte(jwk.EncodeBase64URL(c.checks[i].signature))
		other := bytes.Clone(text)
		other[3] ^= 1
		*body = bytes.Replace(good, text, other, 1)
		err := c.verify()
		if *body = good; err == nil {
			return fmt.Errorf("the envelope verifies without signature %d of its chain", i)
		}
	}
	return nil
}
