// Package yamlx reads the strict YAML profile of a publisher's folder (F§10.1) and edits such files without disturbing anything else in them.
//
// The profile is the part of YAML on which every reader agrees:
//
//   - one document of at most [MaxSize] bytes, valid UTF-8, no byte order mark, lines ended by LF or CRLF;
//   - no anchors, aliases, merge keys, tags or directives; no member name twice in one mapping; nested at most [MaxDepth] deep;
//   - a plain scalar is a number only when it is a JSON number, a boolean only as true or false, null only as null; every other scalar is a
//     string, dates included;
//   - a plain scalar that another reader would take for a number, a boolean or null (1_000, 0x1F, 017, .inf, True, ~, an empty value) is refused:
//     it must be written in JSON form or quoted.
//
// [Parse] returns the tree with the source text and the position (line and column, counted from 1, columns in code points) of every scalar.
//
// [SetMember], [RemoveMember], [InsertItem] and [RemoveItem] change the text of one place and leave every other byte as it is, comments and
// order included. Each of them parses its own result and compares it with the tree that the change should give; a file written in a form that
// cannot be edited safely is refused, never damaged.
package yamlx
