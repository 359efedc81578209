package business

// authority judges whether what vouches for the publisher is current: expires_at of the document, valid_until of the proof, and when it was last proven.
// Absent members are not stated, which is another finding than stated to be missing (XP-VERSION-004). trust_tier decides nothing (XP-AUTHORITY-005).
func (v *verifier) authority(d *document) Finding {
	switch d.kind {
	case KindUnknown:
		return found("not_stated", "unsigned_kind")
	case KindRevocations:
		return v.listAuthority(d)
	}
	if d.signed || d.top.get("expires_at") != nil {
		expires, ok := parseTime(d.top.str("expires_at"))
		if !ok {
			return found("not_stated", "expiry_not_stated")
		}
		if !v.e.At.Before(expires) {
			return found("expired", "document_expired")
		}
	}
	publisher, verification := d.top.object("publisher"), d.top.object("verification")
	until, bounded := parseTime(verification.str("valid_until"))
	if bounded && !v.e.At.Before(until) {
		return found("expired", "proof_lapsed")
	}
	proven, ok := parseTime(publisher.str("authority_verified_at"))
	observed := verification.get("domain_verified").is("true") && verification.str("verified_host") != "" && verification.str("method") != ""
	switch {
	case ok && proven.After(v.e.At.Add(v.e.FutureSkew)):
		return found("not_proven", "proof_in_future")
	case ok, observed && bounded:
		return found("current", "")
	case publisher.get("website_verified").is("false") || verification.get("domain_verified").is("false"):
		return found("not_proven", "no_proof")
	}
	return found("not_stated", "proof_not_stated")
}

// listAuthority is the age of a list, counted from its signed issued_at.
func (v *verifier) listAuthority(d *document) Finding {
	var l listState
	if !l.read(d, d.publisher != "") {
		return found("not_stated", "expiry_not_stated")
	}
	if v.e.At.Sub(l.issuedAt) > l.maxAge {
		return found("expired", "list_stale")
	}
	return found("current", "")
}
