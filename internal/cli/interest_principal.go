package cli

import (
	"github.com/spf13/cobra"
)

const principalHelp = " --principal narrows it to one principal of a folder that several share, by the principal_ref of the interest file; may be repeated. Exit 3 when no interest has it."

// principalFlag lets a command list what is of some principals alone.
func principalFlag(c *cobra.Command) *[]string {
	var refs []string
	c.Flags().StringArrayVar(&refs, "principal", nil, "principal_ref of a principal whose alone is listed; may be repeated")
	return &refs
}

// several reports whether a list has to say whose each line is: several principals share the folder, and it was not narrowed to one.
func (e *env) several(i *interests, refs []string) (bool, error) {
	if e.json || len(refs) == 1 {
		return false, nil
	}
	all, err := i.Principals(e.ctx)
	return len(all) > 1, err
}

// whose says for whom a line is; "" when the list is of one principal.
func whose(several bool, ref string) string {
	switch {
	case !several:
		return ""
	case ref == "":
		return "for nobody named"
	}
	return "for " + ref
}
