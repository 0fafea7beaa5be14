" Vim syntax file for D, the language of dvm and DTrace. Written by editors/make.py.
if exists("b:current_syntax")
  finish
endif
syn iskeyword @,48-57,_
syn keyword dvmConditional if else
syn keyword dvmType void char short int long float double signed unsigned string _Bool struct
syn keyword dvmType union enum const volatile userland size_t ssize_t pid_t id_t uid_t gid_t uintptr_t
syn keyword dvmType intptr_t int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t
syn keyword dvmDeclaration typedef inline translator provider probe self this sizeof offsetof stringof xlate auto
syn keyword dvmDeclaration extern register static
syn keyword dvmFunction alloca basename bcopy breakpoint chill cleanpath clear commit copyin copyinstr copyinto copyout
syn keyword dvmFunction copyoutstr ddi_pathname denormalize dirname discard exit freopen ftruncate func getf getmajor getminor
syn keyword dvmFunction htonl htonll htons index inet_ntoa inet_ntoa6 inet_ntop json jstack link_ntop lltostr mod
syn keyword dvmFunction msgdsize msgsize mutex_owned mutex_owner mutex_type_adaptive mutex_type_spin normalize ntohl ntohll ntohs panic print
syn keyword dvmFunction printa printf progenyof raise rand rindex rw_iswriter rw_read_held rw_write_held setopt speculate speculation
syn keyword dvmFunction stack stop strchr strjoin strlen strrchr strstr strtok strtoll substr sym system
syn keyword dvmFunction tolower toupper trace tracemem trunc uaddr ufunc umod ustack usym
syn keyword dvmVariable arg0 arg1 arg2 arg3 arg4 arg5 arg6 arg7 arg8 arg9 args caller
syn keyword dvmVariable chip cpu curcpu curlwpsinfo curpsinfo curthread cwd epid errno execargs execname fds
syn keyword dvmVariable gid goid id ipl lgrp ppid probefunc probemod probename probeprov regs root
syn keyword dvmVariable stackdepth tid timestamp ucaller uid uregs ustackdepth vmregs vtimestamp walltimestamp zonename
" No keyword, which would win over the probe in pid$target:::
syn match dvmVariable "\<pid\>"
syn match dvmAggregating "\v<(avg|count|llquantize|lquantize|max|min|quantize|stddev|sum)>\ze\s*\("
syn match dvmAggregation "@\h\?\w*"
syn match dvmMacro "\$\$\?\w\+"
syn match dvmNumber "\v<(0[xX]\x+|\d+)[uUlL]*>"
syn match dvmProbe "\v[[:alnum:]_$*?.-]*:[^:[:blank:],{/;?]*:[^[:blank:],{/;]*"
syn match dvmProbe "\v<(BEGIN|END|ERROR)>"
syn match dvmProbe "\v<(tick|profile)-\w+>"
syn match dvmPragma "^\s*#.*$"
syn match dvmEscape contained "\\."
syn match dvmFormat contained "%[-+ #0-9.*@]*[a-zA-Z%]"
syn region dvmString start=+"+ skip=+\\.+ end=+"+ oneline contains=dvmEscape,dvmFormat
syn region dvmCharacter start=+'+ skip=+\\.+ end=+'+ oneline contains=dvmEscape
syn region dvmComment start="/\*" end="\*/" contains=@Spell
hi def link dvmConditional Conditional
hi def link dvmType Type
hi def link dvmDeclaration StorageClass
hi def link dvmFunction Function
hi def link dvmVariable Identifier
hi def link dvmAggregating Statement
hi def link dvmAggregation Special
hi def link dvmMacro Macro
hi def link dvmNumber Number
hi def link dvmProbe Label
hi def link dvmPragma PreProc
hi def link dvmEscape SpecialChar
hi def link dvmFormat SpecialChar
hi def link dvmString String
hi def link dvmCharacter Character
hi def link dvmComment Comment
let b:current_syntax = "dvm"
