/**
 * Every transcript is what the program prints.
 */
import { join } from 'node:path';

import { expectScenarios } from '../scenario/expect-scenarios.ts';
import { playTranscript } from './transcript.ts';

expectScenarios(join(__dirname, 'transcripts'), playTranscript);
