package business_test

import (
	"errors"
	"slices"
	"testing"

	"sayso/business"
	"sayso/vectors"
)

// FuzzVerify: whatever the document and the evidence are, there is a verdict with values of the closed lists or a *FormatError; nothing is
// confirmed that the test keys did not sign, and nothing is usable that has a finding against it.
func FuzzVerify(f *testing.F) {
	evidence := vectors.TamperEvidenceXP()
	for _, v := range vectors.TampersXP() {
		f.Add([]byte(v.Document), []byte(evidence[v.RegistryKeys].Document), []byte(evidence[v.PublisherKeys].Document), []byte(evidence[v.Revocations].Document), []byte(evidence[v.PublisherList].Document))
	}
	known := []string{registry1.Kid(), registry2.Kid(), keyA.Kid(), secondA.Kid(), keyB.Kid()}
	f.Fuzz(func(t *testing.T, document, registryKeys, publisherKeys, registryList, publisherList []byte) {
		e := business.Evidence{
			Root: pinnedRoot(), RegistryKeys: &business.Fetched{Body: registryKeys}, PublisherKeys: &business.Fetched{Body: publisherKeys},
			Revocations: &business.Fetched{Body: registryList}, PublisherList: &business.Fetched{Body: publisherList}, At: readAt, FutureSkew: business.ReaderSkew,
			Call: &business.Call{Tool: "search", Arguments: document},
		}
		v, err := business.Verify(document, e)
		var format *business.FormatError
		if err != nil {
			if v != nil || !errors.As(err, &format) {
				t.Fatalf("%v %v", v, err)
			}
			return
		}
		closed(t, v)
		if v.Identity.Value == "confirmed" {
			d, err := business.Members(document)
			if err != nil {
				t.Fatal(err)
			}
			kid := ""
			for _, m := range d {
				if m.Name == "attestation" {
					kid = memberOf(string(mustHave(business.Canon(m.Value))), "kid")
				}
			}
			if !slices.Contains(known, kid) {
				t.Fatalf("key %q is confirmed", kid)
			}
		}
		if l, finding := business.VerifyList(publisherList, v.Publisher, e); (l == nil) != (finding.Value == "unverifiable") {
			t.Fatalf("%v %+v", l, finding)
		}
	})
}

// closed checks the values of a verdict and that usable agrees with them.
func closed(t *testing.T, v *business.Verdict) {
	t.Helper()
	for _, row := range []struct {
		finding business.Finding
		values  []string
		bad     []string
	}{
		{v.Signature, []string{"valid", "invalid", "unsupported", "absent"}, []string{"invalid", "unsupported", "absent"}},
		{v.Identity, []string{"confirmed", "unconfirmed", "mismatch", "broken_chain"}, []string{"unconfirmed", "mismatch", "broken_chain"}},
		{v.Authority, []string{"current", "expired", "not_proven", "not_stated"}, []string{"expired"}},
		{v.Revocation, []string{"clean", "revoked", "not_checked", "incomplete"}, []string{"revoked", "not_checked", "incomplete"}},
		{v.Call, []string{"match", "mismatch", "not_applicable"}, []string{"mismatch"}},
		{v.Mirror, []string{"ok", "mismatch", "not_applicable"}, []string{"mismatch"}},
		{v.Usable, []string{"yes", "no"}, nil},
	} {
		if !slices.Contains(row.values, row.finding.Value) || row.finding.Message == "" {
			t.Fatalf("finding %+v", row.finding)
		}
		if v.Usable.Value == "yes" && slices.Contains(row.bad, row.finding.Value) {
			t.Fatalf("usable although %+v", row.finding)
		}
	}
	if (v.Revocation.Count > 0) != (v.Revocation.Value == "incomplete") {
		t.Fatalf("%+v", v.Revocation)
	}
}
