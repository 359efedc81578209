package facts

import (
	"strconv"

	"sayso/jcs"
)

// appendJSON appends a candidate as F§6.8 lists its members.
func (c *Candidate) appendJSON(dst []byte) []byte {
	dst = jcs.AppendString(append(dst, `{"key":`...), c.Key)
	dst = jcs.AppendString(append(dst, `,"label":`...), c.Label)
	dst = appendNullable(append(dst, unitMember...), c.Unit)
	dst = appendNullable(append(dst, periodMember...), c.Period)
	dst = c.Verified.appendJSON(append(dst, `,"verifiedDate":`...))
	dst = appendScore(append(dst, `,"score":`...), c.Score)
	return append(appendStrings(append(dst, `,"matched":`...), c.Matched), '}')
}

// appendScore writes thousandths as n/1000 without trailing zeros (S7).
func appendScore(dst []byte, thousandths int) []byte {
	dst = strconv.AppendInt(dst, int64(thousandths/1000), 10)
	rest := thousandths % 1000
	if rest == 0 {
		return dst
	}
	dst = append(dst, '.', '0'+byte(rest/100), '0'+byte(rest/10%10), '0'+byte(rest%10))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// appendStrings appends an array of strings.
func appendStrings(dst []byte, list []string) []byte {
	dst = append(dst, '[')
	for i, s := range list {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = jcs.AppendString(dst, s)
	}
	return append(dst, ']')
}
