/**
 * What a person does to a world: steps of the scenarios by their buttons.
 */
import { placedAt } from '../../tests/scenario/fleet-world.ts';
import type { ShownPlace } from './message.ts';

/** What the fields of the panel say. */
export interface Chosen {
  readonly service: string;
  readonly server: string;
  readonly apply: (typeof applyWays)[number];
  readonly write: (typeof writeWays)[number];
}

/** What the fields are called. */
export const labels: Readonly<Record<keyof Chosen, string>> = {
  service: 'Service',
  server: 'Server',
  apply: 'What the gateway does with an effect',
  write: 'What becomes of a write into the store',
};

interface Trouble {
  readonly label: string;
  /** Whether a fleet does not have it. */
  readonly isOfOne?: boolean;
  /** The steps; none where the button has nothing to do. */
  readonly steps: (place: ShownPlace, chosen: Chosen) => readonly string[];
}

/** What a gateway does with an effect, and a store with a call that writes. */
export const applyWays = [
  'be silent',
  'refuse it',
  'hold it',
  'fail before it',
  'fail after it',
  'do it and be silent',
  'do it after 12s',
] as const;
export const writeWays = [
  'rejects',
  'rejects what it keeps',
  'is silent',
  'is silent about what it keeps',
] as const;

export interface Group {
  readonly title: string;
  /** The field that says more. */
  readonly field?: keyof Chosen;
  readonly isOfFleet?: boolean;
  readonly troubles: readonly Trouble[];
}

/** Steps that do not depend on anything. */
function always(label: string, ...steps: readonly string[]): Trouble {
  return { label, steps: () => steps };
}

/** The laws of a fleet do not know what a gateway reports of a service: nodes do not share it. */
function ofOne(label: string, step: (chosen: Chosen) => string): Trouble {
  return { label, isOfOne: true, steps: (_, chosen) => [step(chosen)] };
}

function whenProcess(wanted: ShownPlace['process'], label: string, ...steps: readonly string[]): Trouble {
  return { label, steps: ({ process }) => (process === wanted ? steps : []) };
}

function whenHeld(label: string, step: string): Trouble {
  return { label, steps: ({ held }) => (held > 0 ? [step] : []) };
}

export const groups: readonly Group[] = [
  {
    title: 'Clients',
    field: 'service',
    troubles: [
      { label: '3 come', steps: (_, { service }) => [`gateway has 3 sessions of ${service}`] },
      {
        label: 'One leaves',
        steps: ({ sessions: [id] }) => (id === undefined ? [] : [`gateway ends session ${id}`]),
      },
      ofOne('Service fails', ({ service }) => `gateway says that ${service} has failed`),
      ofOne('Recovers', ({ service }) => `gateway says that ${service} runs again`),
    ],
  },
  {
    title: 'Servers',
    field: 'server',
    troubles: [
      { label: 'Dies', steps: (_, { server }) => [`gateway finds ${server}`] },
      { label: 'Returns', steps: (_, { server }) => [`gateway finds ${server} running`] },
    ],
  },
  {
    title: 'Gateway',
    field: 'apply',
    troubles: [
      { label: 'Next', steps: (_, { apply }) => [`gateway: ${apply}`] },
      {
        label: 'Always',
        steps: (_, { apply }) => (apply === 'hold it' ? [] : [`gateway always: ${apply}`]),
      },
      always('Is well', 'gateway is well'),
      whenHeld('Does what it holds', 'gateway does what it holds'),
      whenHeld('Refuses it', 'gateway refuses what it holds'),
    ],
  },
  {
    title: 'Store',
    field: 'write',
    troubles: [
      { label: 'Next', steps: (_, { write }) => [`store: ${write}`] },
      { label: 'Always', steps: (_, { write }) => [`store always: ${write}`] },
      always('Is well', 'store is well'),
    ],
  },
  {
    title: 'Process',
    troubles: [
      whenProcess('running', 'Kill', 'kill'),
      { label: 'Start', steps: ({ node, process }) => (process === 'dead' ? starting(node) : []) },
      whenProcess('running', 'Pause', 'pause'),
      whenProcess('paused', 'Go on', 'go on'),
      always('Clock +1 h', 'clock is 1h ahead'),
      always('Clock right', 'clock is 0s ahead'),
    ],
  },
  {
    title: 'Network',
    isOfFleet: true,
    troubles: [
      always('Cut off', 'is cut off'),
      always('Back', 'is back'),
      always('Mute', 'is mute'),
      always('Heard', 'is heard'),
    ],
  },
];

/** What a dead process has begun ends before the next one begins. */
function starting(node: string | undefined): readonly string[] {
  const brings = node === undefined ? [] : ['host brings its gateway'];
  return ['gateway loses its calls', 'start', ...brings, 'host reports everything'];
}

/** How a world begins. */
export function beginning(nodes: number): readonly string[] {
  const first = [
    'gateway finds db-1 running',
    'gateway finds db-2 running',
    'gateway has 3 sessions of Sales',
  ];
  if (nodes === 1) return ['start', 'host reports everything', ...first];
  return ['a', 'b', 'c'].slice(0, nodes).flatMap((node) => {
    const steps = ['start', 'host brings its gateway', 'host reports everything', ...first];
    return steps.map((text) => placedAt(node, text));
  });
}
