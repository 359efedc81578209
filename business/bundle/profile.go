package bundle

import (
	"bytes"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sayso/business"
	"sayso/business/hours"
	"sayso/jcs"
)

// DefaultTools are the tools of a publisher that names none.
var DefaultTools = []business.Tool{
	{Name: "search", Handler: "knowledge.search"},
	{Name: "get", Handler: "knowledge.get"},
}

// Profile reads publisher.json. A location without an id gets the slug of its name, a publisher without tools gets [DefaultTools]. A profile with an
// error is nil.
func Profile(data []byte, name string) (*business.Profile, []Problem) {
	r := &row{file: name, most: maxDocumentSays}
	list, err := business.Members(data)
	if err != nil {
		r.fail(ruleFile, pointer(err), "write one JSON object in UTF-8, without byte order mark", "the file is not read: %v", err)
		return nil, r.problems
	}
	p := &business.Profile{}
	for _, m := range list {
		if isNull(m.Value) {
			r.fail(ruleForm, m.Name, "leave the member out: that says not stated", "%s is null", clip(m.Name))
			continue
		}
		r.profileMember(p, m)
	}
	finishProfile(r, p)
	if r.failed {
		return nil, r.problems
	}
	return p, r.problems
}

func (r *row) profileMember(p *business.Profile, m jcs.Member) {
	switch m.Name {
	case "display_name":
		p.DisplayName = r.name(m.Name, m.Value)
	case "legal_name":
		p.LegalName = r.name(m.Name, m.Value)
	case "content_languages":
		p.ContentLanguages = r.names(m.Name, m.Value)
	case "website":
		p.Website = r.name(m.Name, m.Value)
	case "business_category":
		p.BusinessCategory = r.name(m.Name, m.Value)
	case "profile_attributes":
		p.ProfileAttributes = r.profileAttributes(m.Value)
	case "locations":
		p.Locations = r.locations(m.Value)
	case "tools":
		p.Tools = r.tools(m.Value)
	case "freshness_contract":
		p.Freshness = r.freshness(m.Value)
	default:
		r.warn(ruleUnknown, m.Name, "put the business's own members into profile_attributes", "the member %q is not known and was dropped", clip(m.Name))
	}
}

// maxLanguage is enough for any BCP 47 tag in use.
const maxLanguage = 35

var languagePattern = regexp.MustCompile(`^[a-zA-Z]{2,8}(-[a-zA-Z0-9]{1,8})*$`)

// finishProfile checks what does not depend on the form the profile came in, and fills in what follows from it.
func finishProfile(r *row, p *business.Profile) {
	if strings.TrimSpace(p.DisplayName) == "" {
		r.fail(ruleRequired, "display_name", "state it", "the business has no display_name")
	}
	seen := map[string]bool{}
	for _, tag := range p.ContentLanguages {
		if len(tag) > maxLanguage || !languagePattern.MatchString(tag) || seen[strings.ToLower(tag)] {
			r.fail(ruleLanguage, "content_languages", "use tags such as en, de or es-419, each once and the primary one first", "%q is no language tag, or stands twice", clip(tag))
		}
		seen[strings.ToLower(tag)] = true
	}
	if p.Website != "" {
		if u, err := url.Parse(p.Website); err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Hostname() == "" || u.User != nil {
			r.fail(ruleWebsite, "website", "write it as https://shop.example", "website %q is no absolute http or https URL", clip(p.Website))
		}
	}
	finishLocations(r, p.Locations)
	if len(p.Tools) == 0 {
		p.Tools = append(p.Tools, DefaultTools...)
	}
}

// profileAttributes copies the attributes of the business, without the ones that say nothing.
func (r *row) profileAttributes(raw jcs.Raw) jcs.Raw {
	// Without a schema the same checks apply to a profile's attributes as to a record's; CheckProfile compares them with one.
	return (&source{}).attributes(r, "profile_attributes", raw)
}

// CheckProfile compares the attributes of the business with the kinds that the schema declares for them. name is the file's name for places.
func CheckProfile(p *business.Profile, schema *business.Schema, name string) []Problem {
	o := Options{Schema: &business.Schema{Attributes: schema.Profile}, Locations: []string{}}
	for _, l := range p.Locations {
		o.Locations = append(o.Locations, l.ID)
	}
	s := newSource(name, o, nil)
	r := &row{file: name, most: maxDocumentSays}
	list, _ := members(p.ProfileAttributes)
	for _, m := range list {
		s.attribute(r, "profile_attributes."+clip(m.Name), m.Name, m.Value)
	}
	s.currency(r, list)
	return r.problems
}

var toolPattern = regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)

func (r *row) tools(raw jcs.Raw) (out []business.Tool) {
	names := map[string]bool{}
	for i, object := range r.objects("tools", raw) {
		var t business.Tool
		field := "tools." + strconv.Itoa(i)
		for _, m := range object {
			switch m.Name {
			case "name":
				t.Name = r.name(field+".name", m.Value)
			case "handler":
				t.Handler = r.name(field+".handler", m.Value)
			case "description":
				t.Description = r.word(field+".description", m.Value)
			default:
				r.warn(ruleUnknown, field, "use name, handler and description", "the member %q of a tool is not known and was dropped", clip(m.Name))
			}
		}
		if !toolPattern.MatchString(t.Name) || names[t.Name] {
			r.fail(ruleTool, field+".name", "use 1 to 64 of a-z A-Z 0-9 _ -, and each name once", "%q is no name for a tool, or stands twice", clip(t.Name))
		}
		names[t.Name] = true
		if !slices.Contains(business.Handlers, t.Handler) {
			r.fail(ruleTool, field+".handler", "use one of "+strings.Join(business.Handlers, ", "), "there is no handler %q", clip(t.Handler))
		}
		out = append(out, t)
	}
	return out
}

func (r *row) freshness(raw jcs.Raw) *business.FreshnessContract {
	list, ok := members(raw)
	if !ok {
		r.fail(ruleForm, "freshness_contract", "write {sla_seconds, policy}, or leave the member out", "freshness_contract is %s where an object is expected", kindOf(raw))
		return nil
	}
	var f business.FreshnessContract
	for _, m := range list {
		switch m.Name {
		case "sla_seconds":
			f.SLASeconds, _ = strconv.ParseInt(string(m.Value), 10, 64)
		case "policy":
			f.Policy = r.word("freshness_contract.policy", m.Value)
		default:
			r.warn(ruleUnknown, "freshness_contract", "use sla_seconds and policy", "the member %q is not known and was dropped", clip(m.Name))
		}
	}
	if f.SLASeconds <= 0 || f.Policy == "" {
		r.fail(ruleFreshness, "freshness_contract", "state both, sla_seconds as a whole number of at least 1", "the contract has no positive sla_seconds or no policy")
	}
	return &f
}

// objects reads an array of objects.
func (r *row) objects(field string, raw jcs.Raw) (out [][]jcs.Member) {
	list, ok := elements(raw)
	if !ok {
		r.fail(ruleForm, field, "write an array of objects, or leave the member out", "%s is %s where an array is expected", field, kindOf(raw))
	}
	for _, e := range list {
		object, ok := members(e)
		if !ok {
			r.fail(ruleForm, field, "write objects only", "%s holds %s where an object is expected", field, kindOf(e))
			continue
		}
		out = append(out, object)
	}
	return out
}

// Schema reads schema.json, with the refusal as a problem.
func Schema(data []byte, name string) (*business.Schema, []Problem) {
	s, err := business.ParseSchema(data)
	if err != nil {
		return nil, refusal(name, err)
	}
	return s, nil
}

// Calendar reads calendar.json, with the refusal as a problem.
func Calendar(data []byte, name string) (*hours.Calendar, []Problem) {
	c, err := hours.ParseCalendar(bytes.Clone(data))
	if err != nil {
		return nil, refusal(name, err)
	}
	return c, nil
}

func refusal(name string, err error) []Problem {
	r := row{file: name}
	r.fail(ruleFile, pointer(err), "correct the file", "the file is not read: %v", err)
	return r.problems
}
