// Completion for zsh.
import type { CommandTable } from '../command.ts';
import { type CompletedCommand, completedCommands, namesOf, quoted } from './words.ts';

export function zshCompletion(table: CommandTable): string {
  const commands = completedCommands(table);
  return `#compdef hub
# Completion of 'hub' for zsh: source <(hub completion zsh), or this text as _hub in a folder of $fpath
_hub() {
  local line="" word
  for word in "\${(@)words[2,CURRENT-1]}"; do
    case "\${line:+$line }$word" in
      (${commands
        .slice(1)
        .map(({ line }) => quoted(line))
        .join('|')}) line="\${line:+$line }$word" ;;
    esac
  done
  local -a next options
  case "$line \${words[CURRENT-1]}" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$line" in
${commands.map(wordsCase).join('\n')}
  esac
  if [[ "$PREFIX" == -* ]]; then
    _describe 'option' options
  elif (( \${#next} )); then
    _describe 'command' next
  else
    _files
  fi
}
compdef _hub hub
`;
}

function valueCases({ line, options }: CompletedCommand): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map((option) => {
      const lines = namesOf(option).map((name) => quoted(`${line} ${name}`));
      const replies = { words: `compadd -- ${option.words.join(' ')}; `, path: '_files; ', text: '', none: '' };
      return `    (${lines.join('|')}) ${replies[option.value]}return ;;`;
    });
}

function wordsCase({ line, next, names, options }: CompletedCommand): string {
  const described = (words: readonly (readonly [string, string])[]) =>
    words.map(([word, text]) => `'${word}${text && `:${text.replaceAll("'", '’').replaceAll(':', '\\:')}`}'`).join(' ');
  const nextWords = described(next.map(({ word, summary }) => [word, summary]));
  const optionWords = described(
    options.flatMap((option) => namesOf(option).map((name) => [name, option.description] as const)),
  );
  // Colons separate a word from its description.
  const named = names ? `\${(@f)$(hub names ${names} "$PREFIX" 2>/dev/null)//:/\\\\:}` : nextWords;
  return `    (${quoted(line)}) next=(${named}) options=(${optionWords}) ;;`;
}
