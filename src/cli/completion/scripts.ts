// The scripts that connect shells to `hub complete`, which knows what can follow the words of a command line.

export const COMPLETION_SCRIPTS: Readonly<Record<string, string>> = {
  bash: `# Completion of 'hub' for bash: source <(hub completion bash)
_hub() {
  local word cur="\${COMP_WORDS[COMP_CWORD]}" at=$COMP_CWORD IFS=$'\\n'
  # Bash splits words at these characters, which ids, addresses and options contain.
  while (( at > 1 )) && [[ "$cur" == [:@=]* || "\${COMP_WORDS[at-1]}" == [:@=] ]]; do
    at=$((at - 1)) cur="\${COMP_WORDS[at]}$cur"
  done
  # Without a reply, bash completes paths.
  COMPREPLY=($(hub complete -- "\${COMP_WORDS[@]:1:at-1}" "$cur" 2>/dev/null | cut -f 1))
  # A blank candidate keeps bash from replacing the word with a common prefix that does not start with it.
  if (( \${#COMPREPLY[@]} > 1 )); then
    for word in "\${COMPREPLY[@]}"; do [[ "$word" == "$cur"* ]] || { COMPREPLY+=(' '); break; }; done
  fi
  # Bash inserts only what follows the last of these characters.
  if (( at < COMP_CWORD )); then COMPREPLY=("\${COMPREPLY[@]#"\${cur%"\${cur##*[:@=]}"}"}"); fi
}
complete -o default -F _hub hub
`,
  zsh: `#compdef hub
# Completion of 'hub' for zsh: source <(hub completion zsh), or this text as _hub in a folder of $fpath
_hub() {
  local -a found
  found=(\${(f)"$(hub complete -- "\${(@)words[2,CURRENT-1]}" "$PREFIX" 2>/dev/null)"})
  # Colons separate a word from its description.
  found=(\${found//:/\\\\:})
  found=(\${found/$'\\t'/:})
  # Ids also complete from the middle.
  if (( \${#found} )); then _describe 'word' found -M 'l:|=*'; else _files; fi
}
compdef _hub hub
`,
  fish: `# Completion of 'hub' for fish: hub completion fish | source
function __hub_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    set -l found (hub complete -- $words[2..-1] "$current" 2>/dev/null)
    if count $found >/dev/null
        printf '%s\\n' $found
    else
        __fish_complete_path "$current"
    end
end
complete -c hub -f -a '(__hub_complete)'
`,
};
