/**
 * Completion for shells: each script asks `gateway-admin complete`, so that the table of commands is the only source.
 */
import { valueOrEnd } from './answer.ts';
import { optionsOf, placeOfCommand, type Argument, type Call, type Command } from './command.ts';
import { connect, methodOf } from './connection.ts';
import { kindOf } from './kind.ts';
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
    COMPREPLY+=("$(printf '%q' "\${rest#"\${words[-1]%"$part"}"}")")
  done < <(gateway-admin complete -- "\${words[@]:1}" 2>/dev/null)
}
complete -o default -F _gateway_admin gateway-admin`,
  zsh: `#compdef gateway-admin
_gateway_admin() {
  local -a found
  found=("\${(@f)$(gateway-admin complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)}")
  if [[ -n "\${found[1]}" ]]; then compadd -a found; else _files; fi
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
  async run({ words, output }) {
    await Promise.resolve();
    output.lines(scripts[words[0] as keyof typeof scripts]);
  },
};

/**
 * Gives the words that can come next.
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
  if (name === 'help') return rest.length === 1 ? starting(last, [...commands.keys()]) : [];
  const command = name === undefined ? undefined : commands.get(name);
  const options = command?.options ?? optionsOf(commands);
  if (last.startsWith('-'))
    return starting(
      last,
      Object.keys(options).map((option) => `--${option}`),
    );
  // The value of an option is the user's own.
  if (needsValue(options, rest.at(-2))) return [];
  if (name === undefined) return starting(last, [...commands.keys(), 'help']);
  if (command === undefined) return [];
  const given = rest
    .slice(0, -1)
    .filter((word, at) => !word.startsWith('-') && !needsValue(options, rest[at - 1]));
  const { arguments: expected = [] } = command;
  const argument = expected[given.length] ?? expected.findLast(({ multiple }) => multiple);
  if (argument === undefined) return [];
  return starting(
    last,
    argument.choices ?? (await namesOf(argument, given[0] ?? '', callOf(name, rest.slice(0, -1)))),
  );
}

function starting(beginning: string, words: readonly string[]): readonly string[] {
  return words.filter((word) => word.startsWith(beginning));
}

function needsValue(options: Command['options'], word = ''): boolean {
  return word.startsWith('--') && options[word.slice(2)]?.value !== undefined;
}

/** How long a shell waits for names, in milliseconds. */
const namesMs = 2000;

/** The names that the interface has; none if it cannot be asked without a question to the user. */
async function namesOf(argument: Argument, first: string, call: Call): Promise<readonly string[]> {
  const kindsOf = new Map(Object.entries(argument.names ?? {}));
  const word = kindsOf.get(first) ?? kindsOf.get(`${first}s`) ?? kindsOf.get(first.replace(/s$/, ''));
  if (word === undefined) return [];
  const { list, id = 'name' } = kindOf(word);
  try {
    const client = await connect(call);
    const options = { fields: [id], signal: AbortSignal.timeout(namesMs) };
    const { elements } = valueOrEnd(await methodOf(client, list)(options)) as {
      readonly elements: readonly Readonly<Record<string, unknown>>[];
    };
    const names = elements.map((element) => String(element[id]).replace(/\s/g, '-'));
    // A name that begins with a hyphen would be an option, such as another --url.
    return names.filter((each) => each === safeText(each) && !each.startsWith('-'));
  } catch {
    return [];
  }
}
