// Reads JSON Lines {value, from, to} (milliseconds) and answers each with {error} or with {changes: [[milliseconds, state], …]}: the state at the
// beginning of each day and at each change, by npm opening_hours, in the time zone of the process and with the holidays of Bavaria.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';

// The packages lie in the tools folder, which is the working directory.
const require = createRequire(pathToFileURL(process.cwd() + '/'));
const OpeningHours = require('opening_hours');
const place = { lat: '48.1', lon: '11.6', address: { country_code: 'de', state: 'Bayern' } };

// Each day is begun afresh, because what advance() takes for the next change can lie beyond a midnight at which the state changes.
const changes = ({ value, from, to }) => {
  const hours = new OpeningHours(value, place);
  const out = [];
  for (let day = new Date(from); day.getTime() < to; ) {
    const tomorrow = new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1);
    const at = hours.getIterator(day);
    do out.push([at.getDate().getTime(), at.getStateString(true)]);
    while (at.advance(tomorrow));
    day = tomorrow;
  }
  return out;
};

for (const line of readFileSync(0, 'utf8').split('\n').filter((line) => line !== '')) {
  let answer;
  try {
    answer = { changes: changes(JSON.parse(line)) };
  } catch (e) {
    answer = { error: String(e) };
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
