/**
 * The file llms.txt: the pages with their first sentences, and the questions of the index, for programs that read one
 * file.
 */
import { read } from '../support/project.ts';
import { destinationOf, targetsOf } from './link.ts';

const index = 'docs/README.md';

/** Writes the whole file. */
export function llmsFile(): string {
  const { name, description } = JSON.parse(read('package.json')) as Readonly<Record<string, string>>;
  const [, ...questions] = read(index).split(/^(?=## )/m);
  const pages = [
    ...new Set(targetsOf(questions.join('')).map((target) => destinationOf(index, target).file)),
  ];
  return [
    `# ${name ?? ''}\n\n> ${description ?? ''}\n`,
    '## Pages\n',
    ...['README.md', ...pages].map(entry),
    '',
    ...questions.map((chapter) =>
      chapter.replace(/\]\(([^)]+)\)/g, (_link, target: string) => `](${fromRoot(target)})`),
    ),
  ].join('\n');
}

function fromRoot(target: string): string {
  const { file, anchor } = destinationOf(index, target);
  return anchor === undefined ? file : `${file}#${anchor}`;
}

/** The title and the first sentence of a page. */
function entry(page: string): string {
  const [, title = '', text = ''] = /^# (.*)\n+((?:.+\n)+)/.exec(read(page)) ?? [];
  const plain = text
    .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replace(/\s+/g, ' ')
    .trim();
  const [sentence = plain] = /^.*?\.(?= |$)/.exec(plain) ?? [];
  return `- [${title}](${page}): ${sentence}`;
}
