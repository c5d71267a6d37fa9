/**
 * Completion for shells: each script asks `gateway-admin complete`, so that the table of commands is the only source.
 */
import type { Elements } from '../client/index.ts';
import { nameKey } from '../core/name.ts';
import { valueOrEnd } from './answer.ts';
import {
  argumentAt,
  optionsOf,
  optionsTopic,
  placeOfCommand,
  type Call,
  type Command,
  type Named,
} from './command.ts';
import { wordsAt, type Row } from './condition.ts';
import { connect, methodOf } from './connection.ts';
import { contextNames } from './context.ts';
import { configured, kindOf } from './kind.ts';
import { choicesOf, fieldNamesOf, kindsWithFields } from './meaning.ts';
import { safeText } from './output.ts';

const scripts = {
  // Not compgen -W, which would run a command in a name.
  bash: `_gateway_admin() {
  local line=\${COMP_LINE:0:COMP_POINT} words=() part rest at
  COMPREPLY=()
  # Bash divides words at colons and equals signs. Parts without white space between them are one word.
  for ((at = 0; at <= COMP_CWORD; at++)); do
    rest=\${line#"\${line%%[![:space:]]*}"}
    part=\${COMP_WORDS[at]}
    ((at == COMP_CWORD)) && part=$rest
    if [[ $at != 0 && $rest == "$line" ]]; then words[-1]+=$part; else words+=("$part"); fi
    line=\${rest:\${#part}}
  done
  # What stands before the last such sign is on the line already, and bash keeps it.
  [[ -n \${part//[:=]/} ]] || part=
  while IFS= read -r rest; do
    COMPREPLY+=("$(printf '%q' "\${rest:\${#words[-1]}-\${#part}}")")
    # The value, or the name of the field, follows.
    [[ $rest == *[=/.] ]] && compopt -o nospace 2>/dev/null
  done < <(gateway-admin complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _gateway_admin gateway-admin`,
  zsh: `#compdef gateway-admin
_gateway_admin() {
  local -a found
  found=("\${(@f)$(gateway-admin complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -z "\${found[1]}" ]]; then _files; return; fi
  # After these, the value or the name of a field follows.
  local -a begun=("\${(@M)found:#*[=/.]}") whole=("\${(@)found:#*[=/.]}")
  compadd -M 'm:{a-zA-Z}={A-Za-z}' -S '' -a begun
  compadd -M 'm:{a-zA-Z}={A-Za-z}' -a whole
}
compdef _gateway_admin gateway-admin`,
  fish: `function __gateway_admin
    set -l words (commandline -opc)[2..-1] (commandline -ct)
    gateway-admin complete -- $words 2>/dev/null
end
complete -c gateway-admin -f -n 'test -n "$(__gateway_admin)"' -a '(__gateway_admin)'`,
} as const;

/** The command `completion`. */
export const completion: Command = {
  does: 'Prints the completion script of a shell.',
  arguments: [{ name: 'shell', choices: Object.keys(scripts) }],
  options: {},
  notes: [
    'bash: add to ~/.bashrc   eval "$(gateway-admin completion bash)"',
    'zsh:  add to ~/.zshrc    eval "$(gateway-admin completion zsh)"   after compinit',
    'fish: run                gateway-admin completion fish > ~/.config/fish/completions/gateway-admin.fish',
  ],
  examples: ['completion bash', 'completion zsh'],
  async run({ words, output }) {
    await Promise.resolve();
    output.lines(scripts[words[0] as keyof typeof scripts]);
  },
};

/**
 * Gives the words that can come next, whatever the case of the letters.
 *
 * @param commands - every command, by name
 * @param words - the words of the command line after the program; the last one is not complete
 * @param callOf - makes a call of a command out of arguments, to ask the interface for names
 */
export async function completionsOf(
  commands: ReadonlyMap<string, Command>,
  words: readonly string[],
  callOf: (name: string, args: readonly string[]) => Call,
): Promise<readonly string[]> {
  const last = words.at(-1) ?? '';
  const { place } = placeOfCommand(commands, words.slice(0, -1));
  const name = place === undefined ? undefined : words[place];
  const rest = place === undefined ? words : words.toSpliced(place, 1);
  const before = rest.slice(0, -1);
  if (name === 'help') return before.length === 0 ? starting(last, [...commands.keys(), optionsTopic]) : [];
  const command = name === undefined ? undefined : commands.get(name);
  const options = command?.options ?? optionsOf(commands);
  const given = before.filter(
    (word, at) => !word.startsWith('-') && optionAt(options, before[at - 1]) === undefined,
  );
  const [, written = '', begun = last] = /^(--[a-z-]+=)([^]*)$/.exec(last) ?? [];
  const option = optionAt(options, written === '' ? before.at(-1) : written.slice(0, -1));
  // An option that still lacks its value is no call.
  const whole = option === undefined || written !== '' ? before : before.slice(0, -1);
  const asked: Place = { call: () => callOf(name ?? 'list', whole), given };
  if (option !== undefined)
    return starting(begun, await offered(option, begun, asked)).map((word) => `${written}${word}`);
  if (last.startsWith('-'))
    return starting(
      last,
      Object.keys(options).map((each) => `--${each}`),
    );
  if (name === undefined) return starting(last, [...commands.keys(), 'help']);
  return command === undefined ? [] : argumentsAfter(command, last, asked);
}

/** Where a word stands. */
interface Place {
  /** The call, as far as the user has written it. */
  readonly call: () => Call;
  /** The arguments before the word. */
  readonly given: readonly string[];
}

/** The arguments that can come next. One that can be given several times has no name twice. */
async function argumentsAfter(
  { arguments: expected = [] }: Command,
  last: string,
  place: Place,
): Promise<readonly string[]> {
  const { given } = place;
  const counts = [Infinity, given.length + 1];
  const found: string[] = [];
  for (const argument of new Set(counts.map((count) => argumentAt(expected, given.length, count)))) {
    const { choices, names = {} } = argument ?? {};
    const [first = ''] = given;
    const word = [first, `${first}s`, first.replace(/s$/, '')].find((each) => Object.hasOwn(names, each));
    const named = { ...(choices && { choices }), ...(word !== undefined && { names: names[word] ?? '' }) };
    found.push(...(await offered(named, last, place)));
  }
  return starting(last, found).filter(
    (word) => !given.slice(1).some((each) => nameKey(each) === nameKey(word)),
  );
}

function starting(beginning: string, words: readonly string[]): readonly string[] {
  const key = nameKey(beginning);
  return words.filter((word) => nameKey(word).startsWith(key));
}

/** The option that a word is, if a value follows the word. */
function optionAt(options: Command['options'], word = ''): Command['options'][string] | undefined {
  const found = Object.entries(options).find(([name, { short }]) =>
    short === undefined ? word === `--${name}` : word === `--${name}` || word === `-${short}`,
  );
  return found?.[1].value === undefined ? undefined : found[1];
}

/** The words that an argument or an option can be; none if the interface cannot be asked without a question. */
async function offered(
  { choices, names }: { readonly choices?: readonly string[]; readonly names?: Named },
  beginning: string,
  { call, given: [kind = ''] }: Place,
): Promise<readonly string[]> {
  if (choices !== undefined || names === undefined) return choices ?? [];
  try {
    const own = Object.hasOwn(sources, names) ? sources[names] : undefined;
    return own === undefined ? await namesOf(names, call()) : await own({ beginning, kind, call });
  } catch {
    return [];
  }
}

/** What a user has written of a word, the kind that the command is about, and the call. */
interface Asked extends Pick<Place, 'call'> {
  readonly beginning: string;
  readonly kind: string;
}

/** Where words come from that are no names of resources. */
const sources: Readonly<Record<string, (asked: Asked) => Promise<readonly string[]> | readonly string[]>> = {
  context: ({ call }) => contextNames(call().surroundings),
  async field({ kind, beginning }) {
    const sign = beginning.startsWith('-') ? '-' : '';
    return (await fieldNamesOf(kind)).map((name) => `${sign}${name}`);
  },
  async fields({ kind, beginning }) {
    const before = beginning.replace(/[^,]*$/, '');
    return (await fieldNamesOf(kind)).map((name) => `${before}${name}`);
  },
  async condition({ kind, beginning, call }) {
    const fields = await fieldNamesOf(kind);
    const [, field, sign = ''] = /^([^=!]+)(!?==?)/.exec(beginning) ?? [];
    if (field === undefined) return fields.map((name) => `${name}=`);
    const own = fields.find((name) => nameKey(name) === nameKey(field)) ?? field;
    const rows = await rowsOf(kind, call(), {});
    const words = new Set([...(await choicesOf(kind, own)), ...rows.flatMap((row) => wordsAt(row, own))]);
    return [...words].map((word) => `${own}${sign}${word.replace(/\s/g, '-')}`);
  },
  async meaning({ beginning }) {
    const [kind = '', ...others] = beginning.split('.');
    if (others.length === 0) return kindsWithFields.map((word) => `${word}.`);
    return (await fieldNamesOf(kind)).map((name) => `${kind}.${name}`);
  },
  async link({ beginning, call }) {
    const [, before = '', collection = ''] = /^(\/?([a-z]+)\/)/.exec(beginning) ?? [];
    if (!configured.some((each) => each === collection)) return configured.map((each) => `/${each}/`);
    return (await namesOf(collection, call())).map((name) => `${before}${name}`);
  },
};

/** How long a shell waits for names, in milliseconds. */
const namesMs = 2000;

/** The resources of a kind, as a list shows them. */
async function rowsOf(
  word: string,
  call: Call,
  options: { readonly fields?: readonly string[] },
): Promise<readonly Row[]> {
  const client = await connect(call);
  const signal = AbortSignal.timeout(namesMs);
  const answer = await methodOf(client, kindOf(word).list)({ ...options, signal });
  return (valueOrEnd(answer) as Elements<Row>).elements;
}

/** The names that the interface has. */
async function namesOf(word: string, call: Call): Promise<readonly string[]> {
  const { id = 'name' } = kindOf(word);
  const names = (await rowsOf(word, call, { fields: [id] })).map((row) =>
    String(row[id]).replace(/\s/g, '-'),
  );
  // A name that begins with a hyphen would be an option, such as another --url.
  return names.filter((each) => each === safeText(each) && !each.startsWith('-'));
}
