# Completion of dvm for fish, also under the name dtrace. `dvm complete` knows the candidates; where it has none, files follow.
function __dvm_complete
    set -l program (commandline -po)[1]
    # dtrace is a link to dvm, or another program of that name.
    string match -qr '(^|/)dtrace$' -- $program; and set program (realpath (command -s $program))
    set -l found
    string match -qr '(^|/)dvm$' -- $program; and set found ($program complete (commandline -cp | string collect) 2>/dev/null)
    # fish ends the quotes behind a single candidate, and keeps them open behind what two have in common.
    if test (count $found) -eq 1; and string match -qr '^[\'"]' -- (commandline -ct); and string match -qr '\t[.]{3}$' -- $found
        set -a found (string split -f 1 \t -- $found)...
    end
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c dvm -f -a '(__dvm_complete)'
complete -c dtrace -f -a '(__dvm_complete)'
