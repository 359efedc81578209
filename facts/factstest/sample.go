package factstest

import (
	"slices"
	"strings"

	"sayso/facts"
)

// Sample is the hand-made dataset, signed; [Changelog] makes its changelog. Its keys and what each is there for:
//
//	eu/ecb/deposit-rate                    one open value, an authored previous block
//	uk-sct/income-tax/starter-rate         a sub-national namespace
//	uk/bank-rate                           several standing values without period; 3.75, 4 and 4.25 %
//	uk/income-tax/personal-allowance       labelled periods, an explicit last day, two explicit aliases
//	uk/passport/fee                        no cadence, a text value with an escape
//	zz-smp/ended/figure                    a value that has ended, a gap before it, one that has not begun
//	zz-smp/split/duty                      two values in one period
//	zz-smp/withdrawn/dated                 withdrawn, the first day without the figure is known
//	zz-smp/withdrawn/undated               withdrawn, it is not known; superseded by zz-smp/ended/figure
//	zz-smp/version/18.19                   a key with a dot, a boolean value, converted
func Sample() *facts.Dataset {
	ds := &facts.Dataset{
		Publisher: facts.Publisher{Name: "Example Figures (sample)", URL: Origin + "/"},
		KidPrefix: "zz",
		Licence:   "Free to reuse with attribution; sample data",
		Contact:   Origin + "/contact",
		Examples:  []string{"uk/income-tax/personal-allowance", "uk/bank-rate"},
		Namespaces: []facts.Namespace{
			{Name: "eu", Description: "European Union", Calendar: facts.CalendarYear, Authorities: []string{"www.ecb.europa.eu"}},
			{Name: "uk", Description: "United Kingdom", Calendar: facts.CalendarUKTaxYear, Authorities: []string{"www.bankofengland.co.uk", "www.gov.uk"}},
			{Name: "uk-sct", Description: "Scotland", Calendar: facts.CalendarUKTaxYear, Authorities: []string{"www.gov.scot"}},
			{Name: "zz-smp", Description: "Invented figures", Calendar: facts.CalendarNone, Authorities: []string{"authority.example"}},
		},
		Areas: []facts.Area{
			{Name: "policy-rates", Namespace: "uk", Description: "Policy rates", Cadence: "After each decision", CadenceType: "scheduled", EveryDays: 45, GraceDays: 7},
			{Name: "uk-fees", Namespace: "uk", Description: "Fees", Cadence: "When a fee changes", CadenceType: "on-change", GraceDays: 7},
			{Name: "uk-rates", Namespace: "uk", Description: "Income tax", Cadence: "Every 6 April", CadenceType: "scheduled", EveryDays: 45, GraceDays: 7},
			{Name: "samples", Namespace: "zz-smp", Description: "Invented figures", Cadence: "Yearly", CadenceType: "best-effort", EveryDays: 365, GraceDays: 7},
		},
		Topics: []facts.Topic{
			{Prefix: "eu/ecb", Title: "European Central Bank", Area: "policy-rates"},
			{Prefix: "uk-sct/income-tax", Title: "Scottish Income Tax", Area: "uk-rates"},
			{Prefix: "uk/bank-rate", Title: "Bank Rate", Area: "policy-rates", Synonyms: map[string]string{"base rate": "bank-rate"}},
			{Prefix: "uk/income-tax", Title: "Income Tax", Area: "uk-rates", Synonyms: map[string]string{"pa": "personal-allowance"}},
			{Prefix: "uk/passport", Title: "Passports", Area: "uk-fees"},
			{Prefix: "zz-smp", Title: "Samples", Area: "samples"},
		},
	}
	ds.Facts = slices.Concat(sampleRates(), sampleInvented())
	for i := range ds.Facts {
		ds.Facts[i].Topic = slices.IndexFunc(ds.Topics, func(t facts.Topic) bool {
			return ds.Facts[i].Key == t.Prefix || strings.HasPrefix(ds.Facts[i].Key, t.Prefix+"/")
		})
	}
	slices.SortFunc(ds.Facts, func(a, b facts.Fact) int { return strings.Compare(a.Key, b.Key) })
	Sign(ds)
	return ds
}

func sampleRates() []facts.Fact {
	const bank, tax = "https://www.bankofengland.co.uk/monetary-policy/the-interest-rate-bank-rate", "https://www.gov.uk/income-tax-rates"
	rate := func(value facts.Value, from, verified string) facts.DatedValue {
		return facts.DatedValue{Value: value, Unit: "%", From: Day(from), Source: bank, Verified: Day(verified)}
	}
	return []facts.Fact{
		{Key: "eu/ecb/deposit-rate", Label: "Deposit facility rate",
			Previous: &facts.Previous{Value: "2.25", From: Day("2025-04-23"), Source: "https://www.ecb.europa.eu/press/2025-04-17"},
			Values: []facts.DatedValue{{Value: "2", Unit: "%", From: Day("2025-06-11"), Source: "https://www.ecb.europa.eu/rates",
				Verified: Day("2026-11-20")}}},
		{Key: "uk-sct/income-tax/starter-rate", Label: "Starter rate of income tax",
			Values: []facts.DatedValue{{Value: "19", Unit: "%", Period: "2026-27", From: Day("2026-04-06"), To: Day("2027-04-05"), ToExplicit: true,
				Source: "https://www.gov.scot/income-tax", Verified: Day("2026-10-20")}}},
		{Key: "uk/bank-rate", Label: "Bank Rate", Values: []facts.DatedValue{
			rate("3.75", "2025-12-18", "2026-10-20"), rate("4", "2025-08-07", "2025-11-30"), rate("4.25", "2025-05-08", "2025-06-30")}},
		{Key: "uk/income-tax/personal-allowance", Label: "Personal Allowance", Scope: "Income up to the taper threshold",
			Aliases: []string{"uk/pa", "uk/personal-allowance"},
			Values: []facts.DatedValue{
				{Value: "12570", Unit: "GBP/year", Period: "2026-27", From: Day("2026-04-06"), To: Day("2027-04-05"), ToExplicit: true, Source: tax,
					Quote: "The standard Personal Allowance is £12,570.", Verified: Day("2026-10-04")},
				{Value: "12570", Unit: "GBP/year", Period: "2025-26", From: Day("2025-04-06"), Source: tax + "/previous", Verified: Day("2026-03-02")},
			}},
		{Key: "uk/passport/fee", Label: "Adult passport", Values: []facts.DatedValue{{Value: facts.StringValue("£102\n(online)"),
			Source: "https://www.gov.uk/passport-fees", SourceFile: "https://www.gov.uk/passport-fees.csv", Verified: Day("2026-01-15")}}},
	}
}

func sampleInvented() []facts.Fact {
	const source = "https://authority.example/figures"
	value := func(v facts.Value, period, from, verified string) facts.DatedValue {
		return facts.DatedValue{Value: v, Unit: "EUR", Period: period, From: Day(from), Source: source, Verified: Day(verified)}
	}
	until := func(v facts.DatedValue, to string) facts.DatedValue {
		v.To, v.ToExplicit = Day(to), true
		return v
	}
	withdrawn := func(v facts.DatedValue, on string) facts.DatedValue {
		v.Value, v.Withdrawn, v.WithdrawnReason = facts.Null, Day(on), "no longer stated"
		return v
	}
	undated := withdrawn(value("", "2025", "2026-06-01", "2026-06-03"), "2026-06-03")
	undated.From, undated.SupersededBy = 0, "zz-smp/ended/figure"
	return []facts.Fact{
		{Key: "zz-smp/ended/figure", Label: "Figure with a gap", Values: []facts.DatedValue{
			value("17.5", "2027", "2027-01-01", "2026-11-01"),
			until(value("8.145", "2025", "2025-01-01", "2026-11-01"), "2025-12-31"),
			until(value("5.25", "2023", "2023-01-01", "2023-11-01"), "2023-12-31"),
		}},
		{Key: "zz-smp/split/duty", Label: "Duty changed within the year", Values: []facts.DatedValue{
			value("52", "2026", "2026-07-01", "2026-07-02"), value("57", "2026", "2026-01-01", "2026-01-02")}},
		{Key: "zz-smp/version/18.19", Label: "Version supported", Values: []facts.DatedValue{{Value: "true", Source: source, SourceType: "derived",
			Method: "Converted from the published table", Verified: Day("2026-11-01"), Converted: true}}},
		{Key: "zz-smp/withdrawn/dated", Label: "Withdrawn figure", Values: []facts.DatedValue{
			withdrawn(value("", "2026", "2026-05-01", "2026-05-02"), "2026-05-02"), value("7", "2026", "2026-01-01", "2026-01-02")}},
		{Key: "zz-smp/withdrawn/undated", Label: "Withdrawn figure without a day", Values: []facts.DatedValue{
			undated, value("9", "2025", "2025-01-01", "2025-01-02")}},
	}
}
