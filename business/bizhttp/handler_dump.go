package bizhttp

import (
	"iter"

	"sayso/business"
)

// serveDump streams dump.jsonl. Its tag is weak, because the first line carries the time it was made.
func (h *handler) serveDump(x *exchange, slug string) error {
	return h.snapshot(x, slug, func(p *business.Publication, records iter.Seq2[*business.Record, error]) error {
		tag := x.stateTag(p, p.Standing.Authority(x.now))
		if tag != "" {
			tag = "W/" + tag
		}
		if x.beginStream(tag, typeExport, cacheExport) {
			return nil
		}
		out := x.outflow()
		out.Write(p.DumpMeta(x.site, x.now))
		for r, err := range records {
			if err != nil {
				return unread(err)
			}
			out.Write(business.AppendRecordLine(out.AvailableBuffer(), x.site, p, r))
			if err := out.ease(); err != nil {
				return err
			}
		}
		return out.flush()
	})
}
