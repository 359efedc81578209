package facts

import "strings"

// CheckUnit reports whether a unit is in the list of F§7.2: "%", a currency of ISO 4217, a currency per hour, day, week, month or year, one of these five
// words, "date" or "rule". "" is null, the unit of a text rule.
func CheckUnit(unit string) bool {
	switch unit {
	case "", "%", "date", "rule":
		return true
	}
	if isSpan(unit) {
		return true
	}
	currency, span, per := strings.Cut(unit, "/")
	return isCurrency(currency) && (!per || isSpan(span))
}

func isSpan(s string) bool {
	switch s {
	case "hour", "day", "week", "month", "year":
		return true
	}
	return false
}

// currencies are the codes of ISO 4217 in use, and in the last line the predecessors of the euro, which older values of a key may have.
const currencies = "AED AFN ALL AMD AOA ARS AUD AWG AZN BAM BBD BDT BGN BHD BIF BMD BND BOB BRL BSD BTN BWP BYN BZD " +
	"CAD CDF CHF CLF CLP CNY COP CRC CUP CVE CZK DJF DKK DOP DZD EGP ERN ETB EUR FJD FKP GBP GEL GHS GIP GMD GNF GTQ GYD " +
	"HKD HNL HTG HUF IDR ILS INR IQD IRR ISK JMD JOD JPY KES KGS KHR KMF KPW KRW KWD KYD KZT LAK LBP LKR LRD LSL LYD " +
	"MAD MDL MGA MKD MMK MNT MOP MRU MUR MVR MWK MXN MYR MZN NAD NGN NIO NOK NPR NZD OMR PAB PEN PGK PHP PKR PLN PYG " +
	"QAR RON RSD RUB RWF SAR SBD SCR SDG SEK SGD SHP SLE SOS SRD SSP STN SVC SYP SZL THB TJS TMT TND TOP TRY TTD TWD TZS " +
	"UAH UGX USD UYU UYW UZS VED VES VND VUV WST XAF XCD XCG XDR XOF XPF YER ZAR ZMW ZWG " +
	"ATS BEF CYP DEM EEK ESP FIM FRF GRD HRK IEP ITL LTL LUF LVL MTL NLG PTE SIT SKK XEU"

func isCurrency(code string) bool {
	if len(code) != 3 {
		return false
	}
	for i := 0; i+3 <= len(currencies); i += 4 {
		if currencies[i:i+3] == code {
			return true
		}
	}
	return false
}
