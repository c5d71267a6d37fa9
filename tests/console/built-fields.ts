/** The fields of forms, as the page loads them. */
import type { FieldTable } from '../../console/field-table.ts';
import { files } from '../../src/console/page.js';

const file = files.find(({ type }) => type === 'application/json');

export const fieldTable = JSON.parse(file?.text ?? '{}') as FieldTable;
