// Completion for fish.
import type { CommandTable } from '../command.ts';
import { type CompletedCommand, type CompletedOption, completedCommands } from './words.ts';

export function fishCompletion(table: CommandTable): string {
  const commands = completedCommands(table);
  return `# Completion of 'hub' for fish: hub completion fish | source
function __hub_line
    set -l line ''
    for word in (commandline -opc)[2..-1]
        switch (string trim "$line $word")
            case ${commands
              .slice(1)
              .map(({ line }) => quoted(line))
              .join(' ')}
                set line (string trim "$line $word")
        end
    end
    test "$line" = "$argv[1]"
end
complete -c hub -f
${commands.flatMap(completions).join('\n')}
`;
}

function completions({ line, next, takesPath, names, options }: CompletedCommand): string[] {
  const here = `complete -c hub -n "__hub_line ${line === '' ? "''" : `'${line}'`}"`;
  return [
    ...next.map(({ word, summary }) => `${here} -a ${quoted(word)}${summary ? ` -d ${quoted(summary)}` : ''}`),
    ...(takesPath ? [`${here} -F`] : []),
    ...(names ? [`${here} -a '(hub names ${names} (commandline -ct) 2>/dev/null)'`] : []),
    ...options.map((option) => `${here} ${optionPart(option)} -d ${quoted(option.description)}`),
  ];
}

function optionPart({ long, short, value, words }: CompletedOption): string {
  const names = `-l ${long.slice(2)}${short ? ` -s ${short}` : ''}`;
  const values = { none: '', text: ' -x', path: ' -r -F', words: ` -x -a ${quoted(words.join(' '))}` };
  return `${names}${values[value]}`;
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", '’')}'`;
}
