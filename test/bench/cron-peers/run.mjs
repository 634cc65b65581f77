// SPDX-License-Identifier: Apache-2.0
// What croner and cron-parser answer to one pattern, and how fast: `reeve bench cron --peers DIR` runs it.
//
//   node run.mjs QUESTION.json ANSWER.json
//
// Each is used in the fastest way it offers: the pattern is read once, before the clock runs.
import { readFileSync, writeFileSync } from "node:fs";
import { Cron } from "croner";
import { CronExpressionParser } from "cron-parser";

const WARM_MS = 150, ROUND_MS = 150, ROUNDS = 3; // the best round counts, as on the other side
const seconds = (date) => (date ? Math.floor(date.getTime() / 1000) : null);

// Three ways to ask: the first time after a date; then, from a date on, one after the other.
function croner(pattern, zone) {
  const job = new Cron(pattern, { timezone: zone });
  let last;
  return {
    after: (date) => job.nextRun(date),
    begin: (date) => { last = date; },
    next: () => { last = job.nextRun(last); return last; },
  };
}

function cronParser(pattern, zone) {
  const times = CronExpressionParser.parse(pattern, { tz: zone });
  return {
    after: (date) => { times.reset(date); return times.next(); },
    begin: (date) => times.reset(date),
    next: () => times.next(),
  };
}

const orNull = (f) => { try { return f(); } catch { return null; } };

function* fresh(peer, dates, answers) {
  for (;;)
    for (let i = 0; i < dates.length; i++) {
      const time = orNull(() => peer.after(dates[i]));
      if (i === answers.length) answers.push(seconds(time));
      yield;
    }
}

function* walking(peer, dates, answers, until) {
  for (let round = 0; ; round++) {
    peer.begin(dates[0]);
    for (let i = 0; i < dates.length; i++) {
      const time = seconds(orNull(() => peer.next()));
      yield;
      if (time >= until) break;
      if (round === 0) answers.push(time);
      if (time === null) break;
    }
  }
}

function roundRate(steps, ms) {
  const begun = process.hrtime.bigint(), end = begun + BigInt(ms) * 1000000n;
  let asked = 0, now;
  do {
    for (let i = 0; i < 8; i++, asked++) steps.next();
    now = process.hrtime.bigint();
  } while (now < end);
  return asked * 1e9 / Number(now - begun);
}

function bestRate(steps) {
  let best = 0;
  roundRate(steps, WARM_MS);
  for (let i = 0; i < ROUNDS; i++) best = Math.max(best, roundRate(steps, ROUND_MS));
  return best;
}

function measure(make, pattern, question, dates) {
  if (pattern === null) return null;
  const peer = make(pattern, question.zone), answer = { fresh: [], walk: [] };
  answer.fresh_per_s = bestRate(fresh(peer, dates, answer.fresh));
  answer.walking_per_s = bestRate(walking(peer, dates, answer.walk, question.until));
  return answer;
}

const question = JSON.parse(readFileSync(process.argv[2]));
const dates = question.starts.map((t) => new Date(t * 1000));
writeFileSync(process.argv[3], JSON.stringify({
  "croner": measure(croner, question.patterns["croner"], question, dates),
  "cron-parser": measure(cronParser, question.patterns["cron-parser"], question, dates),
}));
