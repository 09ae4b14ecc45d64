// Completion for bash.
import type { CommandTable } from '../command.ts';
import { type CompletedCommand, completedCommands, namesOf, quoted } from './words.ts';

export function bashCompletion(table: CommandTable): string {
  const commands = completedCommands(table);
  return `# Completion of 'hub' for bash: source <(hub completion bash)
_hub() {
  local cur="\${COMP_WORDS[COMP_CWORD]}" at=$COMP_CWORD line="" word words=""
  # Bash splits words at these characters, which ids and addresses contain.
  while (( at > 1 )) && [[ "$cur" == [:@]* || "\${COMP_WORDS[at-1]}" == [:@] ]]; do
    at=$((at - 1)) cur="\${COMP_WORDS[at]}$cur"
  done
  local prev="\${COMP_WORDS[at-1]}"
  for word in "\${COMP_WORDS[@]:1:at-1}"; do
    case "\${line:+$line }$word" in
      ${commands
        .slice(1)
        .map(({ line }) => quoted(line))
        .join('|')}) line="\${line:+$line }$word" ;;
    esac
  done
  case "$line $prev" in
${commands.flatMap(valueCases).join('\n')}
  esac
  case "$line" in
${commands.map(wordsCase).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  # Bash inserts only what follows the last of them.
  if (( at < COMP_CWORD )); then COMPREPLY=("\${COMPREPLY[@]#"\${cur%"\${cur##*[:@]}"}"}"); fi
}
complete -o default -F _hub hub
`;
}

/** Completes the value of an option. */
function valueCases({ line, options }: CompletedCommand): string[] {
  return options
    .filter(({ value }) => value !== 'none')
    .map((option) => {
      const lines = namesOf(option).map((name) => quoted(`${line} ${name}`));
      const reply = option.value === 'words' ? `COMPREPLY=($(compgen -W "${option.words.join(' ')}" -- "$cur")); ` : '';
      // Without a reply, bash completes paths.
      return `    ${lines.join('|')}) ${reply}return ;;`;
    });
}

function wordsCase({ line, next, takesPath, names, options }: CompletedCommand): string {
  const optionWords = options.flatMap(namesOf).join(' ');
  const nextWords = names ? `$(hub names ${names} "$cur" 2>/dev/null)` : next.map(({ word }) => word).join(' ');
  // If other words are possible, options are offered only after a dash.
  if (takesPath || nextWords !== '')
    return `    ${quoted(line)}) if [[ "$cur" == -* ]]; then words="${optionWords}"; else words="${nextWords}"; fi ;;`;
  return `    ${quoted(line)}) words="${optionWords}" ;;`;
}
