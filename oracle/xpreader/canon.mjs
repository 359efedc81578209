// The canonical form of X-Protocols: members by code point, numbers as received, U+2028 and U+2029 escaped. JSON.parse cannot be used: it rounds numbers
// and keeps the last of two members with one name.

export class Malformed extends Error {}

// A number keeps its literal.
export class Literal {
  constructor(text) {
    this.text = text;
  }
}

const short = { '"': '"', '\\': '\\', '/': '/', b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };
const number = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;

// parse reads one JSON text strictly: objects become Maps, arrays arrays, numbers Literals.
export function parse(text) {
  if (Buffer.byteLength(text) > 4 << 20) throw new Malformed('too long');
  let at = 0;
  const fail = (what) => {
    throw new Malformed(`${what} at ${at}`);
  };
  const blank = () => {
    while (at < text.length && ' \t\r\n'.includes(text[at])) at++;
  };

  function string() {
    at++;
    let out = '';
    for (;;) {
      const c = text[at++];
      if (c === undefined) fail('open string');
      if (c === '"') break;
      if (c < ' ') fail('control character');
      if (c !== '\\') {
        out += c;
        continue;
      }
      const e = text[at++];
      if (e === 'u') {
        const hex = text.slice(at, at + 4);
        if (!/^[0-9a-fA-F]{4}$/.test(hex)) fail('escape');
        at += 4;
        out += String.fromCharCode(parseInt(hex, 16));
      } else if (Object.hasOwn(short, e)) out += short[e];
      else fail('escape');
    }
    if (!out.isWellFormed()) fail('lone surrogate');
    return out;
  }

  function value(depth) {
    blank();
    const c = text[at];
    if (c === '"') return string();
    if (c === '{' || c === '[') {
      if (depth === 64) fail('depth');
      at++;
      return c === '{' ? object(depth + 1) : array(depth + 1);
    }
    for (const [word, v] of [['true', true], ['false', false], ['null', null]]) {
      if (text.startsWith(word, at)) {
        at += word.length;
        return v;
      }
    }
    number.lastIndex = at;
    const m = number.exec(text);
    if (m === null) fail('no value');
    at += m[0].length;
    return new Literal(m[0]);
  }

  function object(depth) {
    const out = new Map();
    blank();
    if (text[at] === '}') {
      at++;
      return out;
    }
    for (;;) {
      blank();
      if (text[at] !== '"') fail('no name');
      const name = string();
      if (out.has(name)) fail('name twice');
      blank();
      if (text[at++] !== ':') fail('no colon');
      out.set(name, value(depth));
      blank();
      const c = text[at++];
      if (c === '}') return out;
      if (c !== ',') fail('no comma');
    }
  }

  function array(depth) {
    const out = [];
    blank();
    if (text[at] === ']') {
      at++;
      return out;
    }
    for (;;) {
      out.push(value(depth));
      blank();
      const c = text[at++];
      if (c === ']') return out;
      if (c !== ',') fail('no comma');
    }
  }

  const out = value(0);
  blank();
  if (at !== text.length) fail('something follows');
  return out;
}

// UTF-8 bytes sort like code points; JavaScript's own order of strings is by UTF-16 unit.
const byCodePoint = (a, b) => Buffer.compare(Buffer.from(a[0]), Buffer.from(b[0]));

const escapes = { '"': '\\"', '\\': '\\\\', '\b': '\\b', '\f': '\\f', '\n': '\\n', '\r': '\\r', '\t': '\\t', '\u2028': '\\u2028', '\u2029': '\\u2029' };
const quote = (s) =>
  '"' + s.replace(/["\\\u0000-\u001f\u2028\u2029]/g, (c) => escapes[c] ?? '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')) + '"';

// canonical writes a parsed value; without names one member of the outermost object to leave out.
export function canonical(v, without) {
  if (v instanceof Literal) return v.text;
  if (typeof v === 'string') return quote(v);
  if (v instanceof Map) {
    const members = [...v].filter(([name]) => name !== without).sort(byCodePoint);
    return '{' + members.map(([name, inner]) => quote(name) + ':' + canonical(inner)).join(',') + '}';
  }
  if (Array.isArray(v)) return '[' + v.map((inner) => canonical(inner)).join(',') + ']';
  return String(v);
}
