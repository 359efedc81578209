// Reads JSON Lines on standard input and writes the RFC 8785 form of each, made with the engine's own JSON.parse,
// number text and string order, which are the ones RFC 8785 refers to.
import { readFileSync } from 'node:fs';

const canonical = (v) => {
  if (v === null || typeof v !== 'object') return JSON.stringify(v);
  if (Array.isArray(v)) return '[' + v.map(canonical).join(',') + ']';
  return '{' + Object.keys(v).sort().map((k) => JSON.stringify(k) + ':' + canonical(v[k])).join(',') + '}';
};

for (const line of readFileSync(0, 'utf8').split('\n').filter((line) => line !== '')) {
  process.stdout.write(canonical(JSON.parse(line)) + '\n');
}
