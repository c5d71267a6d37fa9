import { expect, it } from '@jest/globals';
import { problemTable } from 'gateway-admin-core';

import { read } from '../support/project.ts';

const sections = [...read('docs/errors.md').matchAll(/^### (.*)\n([^]*?)(?=^##)/gm)];

// Promise: problem-sections
it('the page of problems has a section for each code, with an answer of this code and status', () => {
  const written = sections.map(([, code, text = '']) => [
    code,
    /^(?:HTTP\/1\.1| {2}"status":) (\d+)/m.exec(text)?.[1],
    /^ {2}"type": "(.*)"/m.exec(text)?.[1],
  ]);
  const table = Object.entries(problemTable).map(([code, { status }]) => [
    code,
    String(status),
    `urn:problem-type:gateway-admin:${code}`,
  ]);
  expect(written.toSorted()).toEqual(table.toSorted());
});
