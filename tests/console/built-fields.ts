/** The fields of forms, as the page loads them. */
import type { Meanings } from '../../console/meaning.ts';
import { files } from './page.ts';

const file = files.find(({ type }) => type === 'application/json');

export const { fields: fieldTable } = JSON.parse(file?.text ?? '{}') as Meanings;
