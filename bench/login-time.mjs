/**
 * Whether the duration of a log-in tells that a user exists: an unknown user, a wrong password, and a user whose hash has
 * an older cost, 200 log-ins each, interleaved. `npm run bench:login-time`, on a quiet machine.
 */
import {
  createAdmin,
  createBasicAuthentication,
  createPbkdf2Hasher,
  createSnapshot,
} from 'gateway-admin-core';
import { createScryptHasher } from 'gateway-admin-core/scrypt';

const tries = Number(process.argv[2] ?? 200);
const most = 1.05;
const gateway = { apply: () => Promise.resolve(), inspect: () => Promise.resolve('in-place') };

await compare(
  'PBKDF2, 600,000 rounds; older: 100,000',
  createPbkdf2Hasher(),
  createPbkdf2Hasher({ rounds: 100_000 }),
);
await compare('scrypt, 2^17; older: 2^14', createScryptHasher(), createScryptHasher({ cost: 2 ** 14 }));

async function compare(title, hasher, older) {
  const users = [
    { name: 'present', password: { sealed: await hasher.hash('engine') } },
    { name: 'older', password: { sealed: await older.hash('engine') } },
  ];
  const admin = createAdmin({
    snapshot: createSnapshot({ users }),
    gateway,
    hasher,
    access: { authenticate: createBasicAuthentication() },
  });
  const times = { 'unknown user': [], 'wrong password': [], 'wrong password, older cost': [] };
  const names = {
    'unknown user': 'nobody',
    'wrong password': 'present',
    'wrong password, older cost': 'older',
  };
  await timeOf(admin, 'nobody');
  for (let round = 0; round < tries; round += 1) {
    // The order changes, so that what comes after what tells nothing.
    for (const kind of Object.keys(times).toSorted(() => Math.random() - 0.5))
      times[kind].push(await timeOf(admin, names[kind]));
  }
  await admin.close();
  const medians = Object.entries(times).map(([kind, all]) => [kind, median(all)]);
  const ratio = Math.max(...medians.map(([, each]) => each)) / Math.min(...medians.map(([, each]) => each));
  console.log(`\n${title}, median of ${tries}`);
  for (const [kind, each] of medians) console.log(`  ${kind.padEnd(28)} ${each.toFixed(2).padStart(9)} ms`);
  console.log(
    `  largest / smallest           ${ratio.toFixed(3).padStart(9)} × (target ${most} ×: ${ratio <= most ? 'met' : 'MISSED'})`,
  );
}

/** The milliseconds until a log-in with a wrong password is refused. */
async function timeOf(admin, name) {
  const headers = { authorization: `Basic ${btoa(`${name}:wrong`)}` };
  const start = performance.now();
  const { response } = await admin.handle({ method: 'GET', target: '/users', headers });
  if (response.status !== 401) throw new Error(`${name} got ${response.status}`);
  return performance.now() - start;
}

function median(values) {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)];
}
