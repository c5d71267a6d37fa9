/**
 * The scenarios that the playground offers lead to what stands below their steps.
 */
import { expectScenarios } from '../scenario/expect-scenarios.ts';
import { playScenario } from '../scenario/play.ts';
import { root } from '../support/project.ts';

expectScenarios(`${root}examples/playground`, playScenario);
