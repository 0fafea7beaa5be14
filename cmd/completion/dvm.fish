# Completion of dvm for fish, also under the name dtrace. `dvm complete` knows the candidates; where it has none, files follow.
function __dvm_complete
    set -l program (commandline -po)[1]
    # dtrace is a link to dvm, or another program of that name.
    string match -qr '(^|/)dtrace$' -- $program; and set program (realpath (command -s $program))
    set -l found
    string match -qr '(^|/)dvm$' -- $program; and set found ($program complete (commandline -cp | string collect) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c dvm -f -a '(__dvm_complete)'
complete -c dtrace -f -a '(__dvm_complete)'
