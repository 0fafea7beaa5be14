#pragma once
// Tries what the uprobe instrument needs of the kernel, with programs that do nothing. Each returns 0, or the errno of the
// kernel's refusal. Consumer context.

namespace dvm::runtime {

int try_bpf_program();
int try_uprobe_multi();
// Attaches for a moment.
int try_tracepoint(const char* name);

}  // namespace dvm::runtime
