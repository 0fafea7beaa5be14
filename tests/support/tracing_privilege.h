#pragma once
// Finds the privileges of this process to trace, by the kernel's own calls and without dvm. A test that is skipped for want of
// a privilege needs this proof, because an error of dvm could also be a fault of dvm.

#include <string>

namespace dvm::test {

// Why the kernel refuses a BPF program on a uprobe. Empty: it takes one, or refuses it for a reason that is no missing privilege.
std::string why_no_uprobes();

// Why the kernel refuses a breakpoint in another process of this user. Empty as above.
std::string why_no_breakpoints();

}  // namespace dvm::test
