package server

import (
	"context"
	"net/http"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/internal/app"
	"sayso/jcs"
)

// act handles what takes a reason and nothing else.
func act(f func(*app.Registry, context.Context, app.Actor, string, app.ActInput) (*app.Receipt, error)) handling {
	return with(func(c *call, in reasonInput) (*app.Receipt, error) {
		return f(c.registry, c.ctx, c.actor, c.slug(), app.ActInput{Reason: in.Reason, Operation: c.operation})
	})
}

func readRegistry(c *call) (*registryView, error) {
	keys, err := c.registry.RegistryKeyList(c.ctx, c.actor)
	if err != nil {
		return nil, err
	}
	gauges := c.registry.Gauges()
	v := &registryView{Origin: c.registry.Site().Origin, Keys: keys, Publishers: gauges.Publishers, Published: gauges.Published, Checks: c.registry.Doctor(c.ctx, false)}
	for _, check := range v.Checks {
		if check.ID == "store" {
			v.Engine = check.Message
		}
	}
	listed, err := c.registry.RegistryKeys(c.ctx)
	if err != nil {
		return nil, err
	}
	var list struct {
		Keys []business.RegistryKey `json:"keys"`
	}
	if err := jcs.Decode(listed.Body, &list); err != nil {
		return nil, err
	}
	for i := range list.Keys {
		if list.Keys[i].Role == business.RoleRoot {
			v.Root = &list.Keys[i]
		}
	}
	return v, nil
}

func prepareKey(c *call) (*business.RegistryKey, error) {
	return c.registry.PrepareRegistryKey(c.ctx, c.actor, c.operation)
}

func installKey(c *call, in signedKeyInput) (*app.Receipt, error) {
	return c.registry.InstallRegistryKey(c.ctx, c.actor, in.Entry, c.operation)
}

func revokeRegistryKey(c *call, in signedRevocationInput) (*app.Receipt, error) {
	return c.registry.RevokeRegistryKey(c.ctx, c.actor, in.Entry, c.operation)
}

func readOperatorTokens(c *call) (*tokenList, error) {
	tokens, err := c.registry.OperatorTokens(c.ctx, c.actor)
	return &tokenList{tokens}, err
}

func createOperatorToken(c *call, in operatorInput) (*app.NewToken, error) {
	return c.registry.CreateOperatorToken(c.ctx, c.actor, in.Name, c.operation)
}

func revokeOperatorToken(c *call) (*app.Receipt, error) {
	return c.registry.RevokeOperatorToken(c.ctx, c.actor, c.path["id"], c.operation)
}

// The length of a page of a list.
const (
	defaultPage = 100
	maxPage     = 1000
)

func listPublishers(c *call) (*publisherList, error) {
	limit, err := c.number("limit", defaultPage, 1, maxPage)
	if err != nil {
		return nil, err
	}
	list, err := c.registry.ListPublishers(c.ctx, c.actor, c.query.Get("after"), int(limit))
	page := &publisherList{Publishers: list}
	if len(list) == int(limit) {
		page.Next = list[len(list)-1].Slug
	}
	return page, err
}

func createPublisher(c *call, in publisherInput) (*app.Receipt, error) {
	return c.registry.CreatePublisher(c.ctx, c.actor, app.CreateInput{
		Slug: in.Slug, Name: in.DisplayName, Region: in.Region, Delegated: in.Delegated, Account: in.Account, Operation: c.operation,
	})
}

func readPublisher(c *call) (*app.PublisherDetails, error) {
	return c.registry.Publisher(c.ctx, c.actor, c.slug())
}

func lint(c *call) (*problemList, error) {
	problems, err := c.registry.Lint(c.ctx, c.actor, c.slug())
	return &problemList{problems}, err
}

// publication is what is served about the publisher, for who may read its details. It is not older than they are: another process may have committed since
// the last reading here.
func (c *call) publication() (*business.Publication, error) {
	details, err := readPublisher(c)
	if err != nil {
		return nil, err
	}
	p, err := c.registry.Publication(c.ctx, c.slug())
	if err == nil && p.Revision >= details.Revision {
		return p, nil
	}
	if err := c.registry.Refresh(c.ctx); err != nil {
		return nil, err
	}
	return c.registry.Publication(c.ctx, c.slug())
}

func readProfile(c *call) (document, error) {
	p, err := c.publication()
	if err != nil {
		return nil, err
	}
	return jcs.Encode(p.Profile)
}

func readLocations(c *call) (document, error) {
	p, err := c.publication()
	if err != nil {
		return nil, err
	}
	return jcs.Encode(p.Profile.Locations)
}

func readSchema(c *call) (document, error) {
	p, err := c.publication()
	if err != nil {
		return nil, err
	}
	return stated(p.Schema, "schema")
}

func readCalendar(c *call) (document, error) {
	p, err := c.publication()
	if err != nil {
		return nil, err
	}
	return stated(p.Calendar, "calendar")
}

func stated(text jcs.Raw, what string) (document, error) {
	if text == nil {
		return nil, refused(http.StatusNotFound, "no_"+what, "the publisher has no %s", what)
	}
	return document(text), nil
}

func setProfile(c *call, data []byte) (*documentReceipt, error) {
	receipt, problems, err := c.registry.SetProfile(c.ctx, c.actor, c.slug(), data, c.operation)
	return received(receipt, problems, err)
}

func setLocations(c *call, data []byte) (*documentReceipt, error) {
	receipt, problems, err := c.registry.SetLocations(c.ctx, c.actor, c.slug(), data, c.operation)
	return received(receipt, problems, err)
}

func received(receipt *app.Receipt, problems []bundle.Problem, err error) (*documentReceipt, error) {
	if err != nil {
		return nil, withProblems(err, problems, 0)
	}
	return &documentReceipt{*receipt, problems}, nil
}

func setSchema(c *call, data []byte) (*app.Receipt, error) {
	return c.registry.SetSchema(c.ctx, c.actor, c.slug(), data, c.operation)
}

func removeSchema(c *call) (*app.Receipt, error) {
	return c.registry.SetSchema(c.ctx, c.actor, c.slug(), nil, c.operation)
}

func setCalendar(c *call, data []byte) (*app.Receipt, error) {
	return c.registry.SetCalendar(c.ctx, c.actor, c.slug(), data, c.operation)
}

func removeCalendar(c *call) (*app.Receipt, error) {
	return c.registry.SetCalendar(c.ctx, c.actor, c.slug(), nil, c.operation)
}

func readProofs(c *call) (*proofList, error) {
	proofs, err := c.registry.Proofs(c.ctx, c.actor, c.slug())
	return &proofList{proofs}, err
}

func startProof(c *call, in hostInput) (*app.ProofStart, error) {
	return c.registry.StartProof(c.ctx, c.actor, c.slug(), in.Host, in.Method, c.operation)
}

func checkProof(c *call, in hostInput) (*app.ProofResult, error) {
	return c.registry.CheckProof(c.ctx, c.actor, c.slug(), in.Host, in.Method, c.operation)
}

func recordVerification(c *call, in decisionInput) (*app.Receipt, error) {
	return c.registry.RecordVerification(c.ctx, c.actor, c.slug(), in.Decision, app.ActInput{Reason: in.Reason, Operation: c.operation})
}

func confirmVerification(c *call, in reasonInput) (*app.Receipt, error) {
	return c.registry.ConfirmVerification(c.ctx, c.actor, c.slug(), c.path["decision"], app.ActInput{Reason: in.Reason, Operation: c.operation})
}

func withdrawVerification(c *call) (*app.Receipt, error) {
	return c.registry.WithdrawVerification(c.ctx, c.actor, c.slug(), c.path["decision"], app.ActInput{Operation: c.operation})
}

func suspend(c *call, in suspensionInput) (*app.Receipt, error) {
	return c.registry.Suspend(c.ctx, c.actor, c.slug(), app.ActInput{Reason: in.Reason, Operation: c.operation})
}

func withdraw(c *call, in withdrawalInput) (*app.Receipt, error) {
	return c.registry.Withdraw(c.ctx, c.actor, c.slug(), in.Code, app.ActInput{Reason: in.Reason, Operation: c.operation})
}

func readKeys(c *call) (*keyList, error) {
	keys, err := c.registry.Keys(c.ctx, c.actor, c.slug())
	return &keyList{keys}, err
}

func revokeKey(c *call, in keyRevocationInput) (*app.Receipt, error) {
	return c.registry.RevokeKey(c.ctx, c.actor, c.slug(), c.path["kid"], in.input(c.operation))
}

func revoke(c *call, in revocationInput) (*app.Receipt, error) {
	switch input := in.input(c.operation); {
	case in.Entity != nil && in.Digest == "":
		return c.registry.RevokeEntity(c.ctx, c.actor, c.slug(), in.Entity.Type, in.Entity.ID, input)
	case in.Entity == nil && in.Digest != "":
		return c.registry.RevokeDigest(c.ctx, c.actor, c.slug(), in.Digest, input)
	}
	return nil, refused(http.StatusBadRequest, "invalid_body", "the body names either an entity or a digest")
}

func readTokens(c *call) (*tokenList, error) {
	tokens, err := c.registry.Tokens(c.ctx, c.actor, c.slug())
	return &tokenList{tokens}, err
}

func createToken(c *call, in tokenInput) (*app.NewToken, error) {
	return c.registry.CreateToken(c.ctx, c.actor, c.slug(), in.Name, in.Scopes, c.operation)
}

func revokeToken(c *call) (*app.Receipt, error) {
	return c.registry.RevokeToken(c.ctx, c.actor, c.slug(), c.path["id"], c.operation)
}

func delegate(c *call, in delegationInput) (*app.Receipt, error) {
	return c.registry.Delegate(c.ctx, c.actor, c.slug(), in.Delegated, c.operation)
}

func setQuota(c *call, in app.Quota) (*app.Receipt, error) {
	return c.registry.SetQuota(c.ctx, c.actor, c.slug(), in, c.operation)
}

func setHost(c *call) (*app.Receipt, error) {
	return c.registry.SetHost(c.ctx, c.actor, c.slug(), c.path["host"], c.operation)
}

func removeHost(c *call) (*app.Receipt, error) {
	return c.registry.RemoveHost(c.ctx, c.actor, c.slug(), c.path["host"], c.operation)
}

func readAudit(c *call) (*auditPage, error) {
	return c.auditPage(func(after int64, limit int) ([]app.AuditEntry, error) {
		return c.registry.Audit(c.ctx, c.actor, c.slug(), after, limit)
	})
}

func readRegistryAudit(c *call) (*auditPage, error) {
	return c.auditPage(func(after int64, limit int) ([]app.AuditEntry, error) {
		return c.registry.RegistryAudit(c.ctx, c.actor, after, limit)
	})
}

func (c *call) auditPage(read func(after int64, limit int) ([]app.AuditEntry, error)) (*auditPage, error) {
	after, err := c.number("after", 0, 0, 1<<53-1)
	if err != nil {
		return nil, err
	}
	limit, err := c.number("limit", defaultPage, 1, maxPage)
	if err != nil {
		return nil, err
	}
	entries, err := read(after, int(limit))
	page := &auditPage{Entries: entries}
	if len(entries) == int(limit) {
		page.Next = entries[len(entries)-1].Sequence
	}
	return page, err
}
