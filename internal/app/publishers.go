package app

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sayso/business"
	"sayso/business/bundle"
	"sayso/business/hours"
	"sayso/internal/proof"
	"sayso/jcs"
)

// CreateInput names a new publisher.
type CreateInput struct {
	Slug   string
	Name   string // display_name
	Region string // may be ""
	// Delegated records that the business lets operators edit from the start; its owner can end that.
	Delegated bool
	// Account is an object with the contact of the account holder, for operators only; nil = none.
	Account   jcs.Raw
	Operation string // identity of the act, so that it can be repeated; "" = none
}

const maxText = 200 // code points of a name, region or reason

func plainText(what, s string, required bool) error {
	switch {
	case required && strings.TrimSpace(s) == "":
		return invalid("invalid_"+what, "the %s is missing", what)
	case !utf8.ValidString(s) || utf8.RuneCountInString(s) > maxText || strings.ContainsFunc(s, disturbs):
		return invalid("invalid_"+what, "the %s is longer than %d characters, or holds control characters", what, maxText)
	}
	return nil
}

// disturbs reports what would act on a terminal or on the text beside it: controls, separators of lines, and what turns the direction of text.
func disturbs(c rune) bool {
	return unicode.IsControl(c) || c == '\u2028' || c == '\u2029' || c >= '\u202a' && c <= '\u202e' || c >= '\u2066' && c <= '\u2069'
}

// CreatePublisher makes a publisher in state draft. A slug is never used twice.
func (r *Registry) CreatePublisher(ctx context.Context, actor Actor, in CreateInput) (*Receipt, error) {
	if !business.ValidSlug(in.Slug) {
		return nil, invalid("invalid_slug", "a publisher's name has 1 to 63 of a-z 0-9 and -, and begins and ends with a letter or digit")
	}
	if err := errors.Join(plainText("name", in.Name, true), plainText("region", in.Region, false)); err != nil {
		return nil, AsError(err)
	}
	profile, err := jcs.Encode(business.Profile{DisplayName: in.Name})
	if err != nil {
		return nil, invalid("invalid_name", "the name is no text in UTF-8")
	}
	if in.Account != nil {
		if _, err := jcs.Members(in.Account); err != nil {
			return nil, invalid("invalid_account", "the account is no JSON object: %v", err)
		}
	}
	a := act{op: OpCreatePublisher, slug: in.Slug, operation: in.Operation, target: in.Slug, creates: true}
	return r.commit(ctx, actor, a, func(c *change) error {
		c.row = &PublisherRow{
			Slug: in.Slug, CreatedAt: c.at, Region: in.Region, Lifecycle: business.Draft, Profile: profile, Account: in.Account, Delegated: in.Delegated,
		}
		hash, _, err := contentHash(ctx, c, c.row)
		if err != nil {
			return err
		}
		c.row.ContentHash, c.row.ChangedAt, c.row.Generation = hash, c.at, 1
		if err = c.InsertPublisher(ctx, c.row); errors.Is(err, ErrExists) {
			return refusal(KindConflict, "publisher_exists", "the name %s was used already, and names are never used again", in.Slug).next("choose another name")
		}
		return err
	})
}

// edit runs an act that replaces part of the content.
func (r *Registry) edit(ctx context.Context, actor Actor, op Operation, slug, operation string, f func(*change) error) (*Receipt, error) {
	return r.commit(ctx, actor, act{op: op, slug: slug, operation: operation}, func(c *change) error {
		c.content = true
		return f(c)
	})
}

// SetProfile replaces everything that publisher.json states. The problems are those of the text, warnings included; with an error nothing is changed.
func (r *Registry) SetProfile(ctx context.Context, actor Actor, slug string, data []byte, operation string) (*Receipt, []bundle.Problem, error) {
	with, err := r.context(ctx, actor, OpSetProfile, slug)
	if err != nil {
		return nil, nil, err
	}
	text, _, problems, err := readProfile(data, "publisher.json", with.Schema)
	if err != nil {
		return nil, problems, err
	}
	receipt, err := r.edit(ctx, actor, OpSetProfile, slug, operation, func(c *change) error {
		c.row.Profile = text
		return nil
	})
	return receipt, problems, err
}

// SetLocations replaces the locations alone: data is an array of them, as publisher.json holds it.
func (r *Registry) SetLocations(ctx context.Context, actor Actor, slug string, data []byte, operation string) (*Receipt, []bundle.Problem, error) {
	if _, err := r.context(ctx, actor, OpSetLocations, slug); err != nil {
		return nil, nil, err
	}
	if _, err := business.Canon(data); err != nil {
		return nil, nil, invalid("invalid_locations", "locations.json: %v", err)
	}
	// The reader of profiles judges locations, so they are put into a profile that states nothing else.
	_, with, problems, err := readProfile(slices.Concat([]byte(`{"display_name":"-","locations":`), data, []byte("}")), "locations.json", nil)
	if err != nil {
		return nil, problems, err
	}
	receipt, err := r.edit(ctx, actor, OpSetLocations, slug, operation, func(c *change) error {
		profile, err := decodeProfile(c.row.Profile)
		if err != nil {
			return err
		}
		profile.Locations = with.Locations
		c.row.Profile, err = jcs.Encode(profile)
		return err
	})
	return receipt, problems, err
}

// context reads what a publisher's new content is checked against, and refuses at once what would be refused at the end.
func (r *Registry) context(ctx context.Context, actor Actor, op Operation, slug string) (bundle.Options, error) {
	o := bundle.Options{Publisher: slug}
	err := r.view(ctx, actor, op, slug, func(rd Reader) error {
		row, err := rd.Publisher(ctx, slug)
		if err != nil {
			return notPublisher(err)
		}
		if err := actor.delegation(op, row); err != nil {
			return err
		}
		if row.Schema != nil {
			if o.Schema, err = business.ParseSchema(row.Schema); err != nil {
				return err
			}
		}
		profile, err := decodeProfile(row.Profile)
		if err != nil {
			return err
		}
		o.Locations = locationIDs(profile)
		o.BaseURL = baseURL(r.site.Origin, slug, profile)
		return nil
	})
	return o, err
}

// baseURL is where a publisher's records stand under an origin, "" without one.
func baseURL(origin, slug string, profile *business.Profile) string {
	if origin == "" {
		return ""
	}
	publication := business.Publication{Slug: slug, Profile: *profile}
	return origin + publication.Base()
}

func locationIDs(p *business.Profile) []string {
	ids := make([]string, len(p.Locations)) // none is not unknown
	for i := range p.Locations {
		ids[i] = p.Locations[i].ID
	}
	return ids
}

// readProfile reads a profile and compares it with the schema, when there is one.
func readProfile(data []byte, name string, schema *business.Schema) (jcs.Raw, *business.Profile, []bundle.Problem, error) {
	profile, problems := bundle.Profile(data, name)
	if profile != nil && schema != nil {
		problems = append(problems, bundle.CheckProfile(profile, schema, name)...)
	}
	if n := countErrors(problems); profile == nil || n > 0 {
		return nil, nil, problems, invalid("invalid_profile", "%s has errors: %d", name, n).next("correct what the problems name")
	}
	text, err := jcs.Encode(profile)
	if err != nil {
		return nil, nil, problems, invalid("invalid_profile", "%s cannot be kept: %v", name, err)
	}
	return text, profile, problems, nil
}

func countErrors(problems []bundle.Problem) int {
	n := 0
	for _, p := range problems {
		if !p.Warning {
			n++
		}
	}
	return n
}

// SetSchema replaces the publisher's vocabulary, schema.json; nil removes it.
func (r *Registry) SetSchema(ctx context.Context, actor Actor, slug string, data []byte, operation string) (*Receipt, error) {
	text, _, err := readSchema(data)
	if err != nil {
		return nil, err
	}
	return r.edit(ctx, actor, OpSetSchema, slug, operation, func(c *change) error {
		c.row.Schema = text
		return nil
	})
}

// SetCalendar replaces the holiday calendar, calendar.json; nil removes it.
func (r *Registry) SetCalendar(ctx context.Context, actor Actor, slug string, data []byte, operation string) (*Receipt, error) {
	text, err := readCalendar(data)
	if err != nil {
		return nil, err
	}
	return r.edit(ctx, actor, OpSetCalendar, slug, operation, func(c *change) error {
		c.row.Calendar = text
		return nil
	})
}

func readSchema(data []byte) (jcs.Raw, *business.Schema, error) {
	if data == nil {
		return nil, nil, nil
	}
	schema, err := business.ParseSchema(data)
	if err != nil {
		return nil, nil, invalid("invalid_schema", "schema.json: %v", err)
	}
	text, err := business.Canon(data)
	if err != nil {
		return nil, nil, invalid("invalid_schema", "schema.json: %v", err)
	}
	return text, schema, nil
}

func readCalendar(data []byte) (jcs.Raw, error) {
	if data == nil {
		return nil, nil
	}
	if _, err := hours.ParseCalendar(data); err != nil {
		return nil, invalid("invalid_calendar", "calendar.json: %v", err)
	}
	text, err := business.Canon(data)
	if err != nil {
		return nil, invalid("invalid_calendar", "calendar.json: %v", err)
	}
	return text, nil
}

// Delegate lets operators edit for the publisher, or ends that. Only its owner can do it.
func (r *Registry) Delegate(ctx context.Context, actor Actor, slug string, on bool, operation string) (*Receipt, error) {
	a := act{op: OpDelegate, slug: slug, operation: operation, target: map[bool]string{true: "on", false: "off"}[on]}
	return r.commit(ctx, actor, a, func(c *change) error {
		c.row.Delegated = on
		return nil
	})
}

// The quotas of a publisher whose row says nothing else.
const (
	DefaultRecords = bundle.MaxRecords
	DefaultTokens  = 50
)

func (q Quota) records() int {
	if q.Records > 0 {
		return q.Records
	}
	return DefaultRecords
}

func (q Quota) tokens() int {
	if q.Tokens > 0 {
		return q.Tokens
	}
	return DefaultTokens
}

// SetQuota bounds what a publisher may hold from now on; 0 stands for the default. What it holds already stays.
func (r *Registry) SetQuota(ctx context.Context, actor Actor, slug string, q Quota, operation string) (*Receipt, error) {
	if q.Records < 0 || q.Records > bundle.MaxRecords || q.Tokens < 0 || q.Tokens > 1000 {
		return nil, invalid("invalid_quota", "a quota allows 0 (the default) to %d records and 0 to 1000 tokens", bundle.MaxRecords)
	}
	a := act{op: OpSetQuota, slug: slug, operation: operation, target: fmt.Sprintf("records %d, tokens %d", q.Records, q.Tokens)}
	return r.commit(ctx, actor, a, func(c *change) error {
		c.row.Quota = q
		return nil
	})
}

// SetHost lets a host route to a publisher. It proves nothing. The host may be one that cannot be proven, such as a name below localhost.
func (r *Registry) SetHost(ctx context.Context, actor Actor, slug, host, operation string) (*Receipt, error) {
	host, err := routeHost(host)
	if err != nil {
		return nil, err
	}
	return r.commit(ctx, actor, act{op: OpSetHost, slug: slug, operation: operation, target: host}, func(c *change) error {
		hosts, err := c.Hosts(ctx)
		switch {
		case err != nil:
			return err
		case hosts[host] == slug:
			return nil
		case hosts[host] != "":
			return refusal(KindConflict, "host_taken", "%s routes to another publisher", host).next("remove it there first")
		}
		return c.PutHost(ctx, host, slug)
	})
}

// RemoveHost ends the routing of a host.
func (r *Registry) RemoveHost(ctx context.Context, actor Actor, slug, host, operation string) (*Receipt, error) {
	host, err := routeHost(host)
	if err != nil {
		return nil, err
	}
	return r.commit(ctx, actor, act{op: OpRemoveHost, slug: slug, operation: operation, target: host, final: true}, func(c *change) error {
		hosts, err := c.Hosts(ctx)
		if err != nil {
			return err
		}
		if hosts[host] != slug {
			return refusal(KindNotFound, "unknown_host", "%s does not route to %s", host, slug)
		}
		return c.DeleteHost(ctx, host)
	})
}

// routeHost is the spelling under which a host is looked up. Names that stand in no public DNS may be routed, other refusals of a proof hold here too.
func routeHost(host string) (string, error) {
	host, failure := proof.NormalizeHost(host, nil)
	if failure != nil {
		return "", invalid("invalid_host", "%s", failure.Message)
	}
	return host, nil
}
