package bizhttp

import (
	"sayso/business"
	"sayso/business/bundle"
)

// info is the publisher block this answer shows: the one of the manifest, and to the owner of a publisher that is not published everything that will be in
// it, with the proofs as they are.
func (x *exchange) info(p *business.Publication) business.Info {
	now := p.Info(x.now)
	if !x.preview {
		return now
	}
	shown := *p
	shown.Standing = business.Standing{Region: p.Standing.Region, Lifecycle: business.Published, Verification: &business.OperatorVerification{}}
	info := shown.Info(x.now)
	info.WebsiteVerified, info.ProvenDomain, info.VerificationMethod = now.WebsiteVerified, now.ProvenDomain, now.VerificationMethod
	info.AuthorityVerifiedAt, info.TrustTier = now.AuthorityVerifiedAt, now.TrustTier
	return info
}

// profileLD is the JSON-LD of a profile page.
func (x *exchange) profileLD(p *business.Publication) []byte {
	return bundle.ProfileJSONLD(&p.Profile, p.Vocabulary(), x.site.Locators(p).PublicProfile)
}

// recordLD is the JSON-LD of a record page. Offers are all that the mapping knows: other types have none.
func (x *exchange) recordLD(p *business.Publication, r *business.Record) []byte {
	if r.Type != "service" && r.Type != "product" {
		return nil
	}
	return bundle.RecordJSONLD(&p.Profile, p.Vocabulary(), x.site.Locators(p).PublicProfile, r)
}
