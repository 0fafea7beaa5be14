# Completion of dvm for fish. `dvm complete` knows the candidates; where it has none, files follow.
function __dvm_complete
    set -l found (dvm complete (commandline -cp | string collect) 2>/dev/null)
    if test (count $found) -gt 0
        printf '%s\n' $found
    else
        __fish_complete_path (commandline -ct)
    end
end
complete -c dvm -f -a '(__dvm_complete)'
