/**
 * Every scenario leads to what stands below its steps.
 */
import { join } from 'node:path';

import { expectScenarios } from './scenario/expect-scenarios.ts';
import { playScenario } from './scenario/play.ts';

expectScenarios(join(__dirname, 'scenarios'), (scenario, file) => playScenario(scenario, file));
