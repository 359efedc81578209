package bundle

import (
	"bytes"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"sayso/business"
	"sayso/jcs"
)

// ProfileJSONLD is the schema.org JSON-LD of a profile page: one LocalBusiness with its locations as departments. base is the absolute address of the page.
// The bytes are the same for the same input, and "<" stands as \u003c, so that they may stand in a script element. schema may be nil.
func ProfileJSONLD(p *business.Profile, schema *business.Schema, base string) []byte {
	return scriptSafe(append(appendBusiness(nil, p, schema, base), '}'))
}

// RecordJSONLD is the schema.org JSON-LD of a record page: the business with this one offer. What is said of [ProfileJSONLD] holds.
func RecordJSONLD(p *business.Profile, schema *business.Schema, base string, rec *business.Record) []byte {
	out := appendName(nil, p, base)
	out = append(out, `,"hasOfferCatalog":{"@type":"OfferCatalog","itemListElement":[`...)
	out = appendOffer(out, rec, schema, base)
	return scriptSafe(append(out, "]}}"...))
}

// WriteJSONLD writes records as one JSON-LD file that [Records] reads, one offer per line. The package comment lists what is lost.
func WriteJSONLD(w io.Writer, p *business.Profile, schema *business.Schema, base string, records iter.Seq[*business.Record]) error {
	out := append(appendName(nil, p, base), `,"hasOfferCatalog":{"@type":"OfferCatalog","itemListElement":[`...)
	separator := "\n"
	for rec := range records {
		if rec.Type != "service" && rec.Type != "product" {
			return fmt.Errorf("%s %q cannot be written: JSON-LD holds services and products only; write JSONL", rec.Type, clip(rec.ID))
		}
		out = append(out, separator...)
		if _, err := w.Write(scriptSafe(appendOffer(out, rec, schema, base))); err != nil {
			return err
		}
		out, separator = out[:0], ",\n"
	}
	_, err := w.Write(scriptSafe(append(out, "\n]}}\n"...)))
	return err
}

// scriptSafe escapes what could end a script element, and the two separators that old readers of scripts take for line ends.
func scriptSafe(out []byte) []byte {
	out = bytes.ReplaceAll(out, []byte("<"), []byte(`\u003c`))
	out = bytes.ReplaceAll(out, []byte("\u2028"), []byte(`\u2028`))
	return bytes.ReplaceAll(out, []byte("\u2029"), []byte(`\u2029`))
}

// object writes a JSON object. Members without a value are left out.
type object []byte

func (o *object) raw(name string, value []byte) {
	if len(value) > 0 {
		*o = object(appendMember(jcs.Raw(*o), name, value))
	}
}

func (o *object) text(name, value string) {
	if value != "" {
		o.raw(name, jcs.AppendString(nil, value))
	}
}

func (o *object) close() []byte { return append(*o, '}') }

func open(typ string) *object {
	o := object("{")
	o.text("@type", typ)
	return &o
}

func array(list [][]byte) []byte {
	if len(list) == 0 {
		return nil
	}
	return slices.Concat([]byte("["), bytes.Join(list, []byte(",")), []byte("]"))
}

// categories are the subtypes of LocalBusiness for the words of a category, in lower case.
var categories = map[string]string{
	"bakery": "Bakery", "bank": "BankOrCreditUnion", "bar": "BarOrPub", "bookshop": "BookStore", "bookstore": "BookStore", "café": "CafeOrCoffeeShop", "cafe": "CafeOrCoffeeShop",
	"car repair": "AutoRepair", "dentist": "Dentist", "dental clinic": "Dentist", "electrician": "Electrician", "electronics store": "ElectronicsStore", "florist": "Florist",
	"garage": "AutoRepair", "gym": "ExerciseGym", "hairdresser": "HairSalon", "hardware shop": "HardwareStore", "hardware store": "HardwareStore", "hostel": "Hostel", "hotel": "Hotel",
	"library": "Library", "locksmith": "Locksmith", "optician": "Optician", "opticians": "Optician", "pharmacy": "Pharmacy", "plumber": "Plumber", "restaurant": "Restaurant",
	"supermarket": "GroceryStore",
}

// appendName begins the business, without closing it.
func appendName(dst []byte, p *business.Profile, base string) []byte {
	o := object(append(dst, `{"@context":"`+schemaOrg+`"`...))
	typ := categories[strings.ToLower(p.BusinessCategory)]
	if typ == "" {
		typ = "LocalBusiness"
	}
	o.text("@type", typ)
	o.text("@id", base)
	o.text("name", p.DisplayName)
	return o
}

func appendBusiness(dst []byte, p *business.Profile, schema *business.Schema, base string) []byte {
	o := object(appendName(dst, p, base))
	o.text("legalName", p.LegalName)
	o.text("url", p.Website)
	var places, contacts, features, properties [][]byte
	for _, l := range primaryFirst(p.Locations) {
		places = append(places, placeOf(l))
		if l.Primary && (l.Phone != "" || l.Email != "") {
			c := open("ContactPoint")
			c.text("telephone", l.Phone)
			c.text("email", l.Email)
			contacts = append(contacts, c.close())
		}
	}
	o.raw("contactPoint", array(contacts))
	o.raw("department", array(places))
	if p.BusinessCategory != "" {
		properties = append(properties, propertyOf("PropertyValue", propertyCategory, jcs.AppendString(nil, p.BusinessCategory), ""))
	}
	list, _ := members(p.ProfileAttributes)
	for _, m := range list {
		switch {
		case m.Name == propertyCategory || m.Value[0] == '{':
		case isBool(m.Value):
			features = append(features, propertyOf("LocationFeatureSpecification", m.Name, m.Value, ""))
		default:
			properties = append(properties, propertyOf("PropertyValue", m.Name, m.Value, ""))
		}
	}
	o.raw("amenityFeature", array(features))
	if schema != nil {
		o.raw("paymentAccepted", termsOf(schema.Lists[listPayment]))
		o.raw("knowsLanguage", termsOf(schema.Lists[listLanguages]))
	}
	o.raw("additionalProperty", array(properties))
	return o
}

// primaryFirst puts the primary location in front: its place is all that says so.
func primaryFirst(list []business.Location) []business.Location {
	out := slices.Clone(list)
	slices.SortStableFunc(out, func(a, b business.Location) int {
		switch {
		case a.Primary == b.Primary:
			return 0
		case a.Primary:
			return -1
		}
		return 1
	})
	return out
}

func termsOf(l business.SchemaList) []byte {
	var terms [][]byte
	for _, t := range l.Values {
		terms = append(terms, jcs.AppendString(nil, t.ID))
	}
	return array(terms)
}

func propertyOf(typ, name string, value jcs.Raw, unit string) []byte {
	o := open(typ)
	o.text("name", name)
	o.raw("value", value)
	o.text("unitText", unit)
	return o.close()
}

func placeOf(l business.Location) []byte {
	o := open("LocalBusiness")
	o.text("identifier", l.ID)
	o.text("name", l.Name)
	o.raw("address", addressOf(l))
	if l.Latitude != nil && l.Longitude != nil {
		g := open("GeoCoordinates")
		g.raw("latitude", l.Latitude)
		g.raw("longitude", l.Longitude)
		o.raw("geo", g.close())
	}
	o.text("telephone", l.Phone)
	o.text("email", l.Email)
	o.text("openingHours", l.OpeningHours)
	if l.TimeZone != "" {
		o.raw("additionalProperty", array([][]byte{propertyOf("PropertyValue", propertyZone, jcs.AppendString(nil, l.TimeZone), "")}))
	}
	return o.close()
}

// addressOf is the address as text, as PostalAddress, or as both.
func addressOf(l business.Location) []byte {
	var forms [][]byte
	if l.Address != "" {
		forms = append(forms, jcs.AppendString(nil, l.Address))
	}
	a := open("PostalAddress")
	empty := len(*a)
	a.text("streetAddress", l.StreetAddress)
	a.text("addressLocality", l.Locality)
	a.text("postalCode", l.PostalCode)
	switch {
	case l.Country != "":
		c := open("Country")
		c.text("identifier", l.CountryCode)
		c.text("name", l.Country)
		a.raw("addressCountry", c.close())
	default:
		a.text("addressCountry", l.CountryCode)
	}
	if len(*a) > empty {
		forms = append(forms, a.close())
	}
	if len(forms) == 1 {
		return forms[0]
	}
	return array(forms)
}

// appendOffer writes one record. A price that is deferred is left out, never written as 0.
func appendOffer(dst []byte, rec *business.Record, schema *business.Schema, base string) []byte {
	var declared map[string]business.SchemaAttribute
	if schema != nil {
		declared = schema.Attributes
	}
	list, _ := members(rec.Attributes)
	stated := map[string]jcs.Raw{}
	for _, m := range list {
		stated[m.Name] = m.Value
	}
	o := open("Offer")
	used := priceOf(o, stated, declared)
	item := open("Product")
	if rec.Type == "service" {
		item = open("Service")
	}
	item.text("identifier", rec.ID)
	item.text("name", rec.Title)
	item.text("description", rec.Summary)
	var aliases, properties [][]byte
	for _, a := range rec.Aliases {
		aliases = append(aliases, jcs.AppendString(nil, a))
	}
	item.raw("alternateName", array(aliases))
	if base != "" {
		item.text("url", recordURL(base, rec))
	}
	for _, m := range list {
		if !used[m.Name] && m.Value[0] != '{' {
			properties = append(properties, propertyOf("PropertyValue", m.Name, m.Value, declared[m.Name].Unit))
		}
	}
	item.raw("additionalProperty", array(properties))
	o.raw("itemOffered", item.close())
	return append(dst, o.close()...)
}

// priceOf writes what is stated about the price, and says which attributes are done with.
func priceOf(o *object, stated map[string]jcs.Raw, declared map[string]business.SchemaAttribute) map[string]bool {
	done := map[string]bool{"price": true, "price_from": true, "price_to": true}
	mode, _ := text(stated["price_mode"])
	if mode != "" && (mode == "on_request" || slices.Contains(declared["price_mode"].Deferred, mode)) {
		return done
	}
	currency, _ := text(stated["currency"])
	price, from, to := number(stated["price"]), number(stated["price_from"]), number(stated["price_to"])
	for _, name := range []string{"price", "price_from", "price_to"} {
		if currency == "" && number(stated[name]) != nil {
			currency = declared[name].Currency
		}
	}
	if price == nil && from == nil && to == nil {
		return done
	}
	done["currency"] = true
	o.raw("price", price)
	o.text("priceCurrency", currency)
	if from != nil || to != nil {
		s := open("PriceSpecification")
		s.raw("minPrice", from)
		s.raw("maxPrice", to)
		s.text("priceCurrency", currency)
		o.raw("priceSpecification", s.close())
	}
	return done
}

func number(raw jcs.Raw) jcs.Raw {
	if isNumber(raw) {
		return raw
	}
	return nil
}
