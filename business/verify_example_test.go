package business_test

import (
	"fmt"
	"strings"

	"sayso/business"
)

// The findings stay apart: one changed word breaks the signature and says nothing about whose key it names or whether that key was withdrawn.
func ExampleVerify() {
	changed := strings.Replace(goodEnvelope, "Both eyes", "One eye", 1)
	for _, document := range []string{goodEnvelope, changed} {
		v, err := business.Verify([]byte(document), goodEvidence())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("signature %s, identity %s, authority %s, revocation %s\n", v.Signature.Value, v.Identity.Value, v.Authority.Value, v.Revocation.Value)
		fmt.Printf("usable %s, reason %q\n", v.Usable.Value, v.Usable.Reason)
	}
	// Output:
	// signature valid, identity confirmed, authority current, revocation clean
	// usable yes, reason ""
	// signature invalid, identity confirmed, authority current, revocation clean
	// usable no, reason "signature_invalid"
}
