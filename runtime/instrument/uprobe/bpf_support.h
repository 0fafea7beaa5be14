#pragma once
// Checks the features of the kernel that the uprobe instrument needs, by programs that do nothing. Each check returns 0, or the
// errno of the kernel's refusal. Consumer context.

namespace dvm::runtime {

int try_bpf_program();
int try_uprobe_multi();
// Attaches for a moment.
int try_tracepoint(const char* name);

}  // namespace dvm::runtime
