" Scripts of dvm: *.d files that begin with a line for dvm or dtrace, or that have a clause of D. Written by editors/make.py.
function! s:Detect() abort
  for line in getline(1, 60)
    if line =~# '^#!.*\<\(dvm\|dtrace\)\>' || line =~# '^#pragma D ' || line =~# '^\S*:[^:]*:[^:]*:\S*' || line =~# '^\(BEGIN\|END\|tick-\)'
      set filetype=dvm
      return
    endif
  endfor
endfunction
autocmd BufNewFile,BufRead *.d call s:Detect()
