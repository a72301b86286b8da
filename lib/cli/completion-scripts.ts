/** The shells for which there is a script. */
export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

const bash = `# Completion of platform-sync for bash: source this file, for example in ~/.bashrc.
_platform_sync() {
  local value
  COMPREPLY=()
  while IFS=$'\\t' read -r value _; do
    COMPREPLY+=("$value")
  done < <("$1" complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
}
complete -o default -F _platform_sync platform-sync
`

const zsh = `#compdef platform-sync
# Completion of platform-sync for zsh: keep this as _platform-sync in a folder of $fpath, or source it after compinit.
_platform_sync() {
  local value meaning
  local -a found
  while IFS=$'\\t' read -r value meaning; do
    found+=("\${value//:/\\\\:}:$meaning")
  done < <("$words[1]" complete -- "\${(@)words[2,CURRENT]}" 2>/dev/null)
  if (( $#found )); then _describe platform-sync found; else _files; fi
}
# Kept in a folder of $fpath, this file is the function that the shell calls at the first completion.
if [[ $funcstack[1] == _platform-sync ]]; then _platform_sync "$@"; else compdef _platform_sync platform-sync; fi
`

const fish = `# Completion of platform-sync for fish: keep this as ~/.config/fish/completions/platform-sync.fish.
function __platform_sync_complete
  set -l words (commandline -opc) (commandline -ct)
  set -l found ($words[1] complete -- $words[2..-1] 2>/dev/null)
  if count $found >/dev/null
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c platform-sync -f -a '(__platform_sync_complete)'
`

/** The script of each shell. All ask `platform-sync complete`, so that they hold for later versions, too. */
export const scripts: Readonly<Record<Shell, string>> = { bash, zsh, fish }
