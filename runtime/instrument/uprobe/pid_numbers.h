#pragma once
// Finds the numbers that a thread or process has in all pid namespaces. The members pid and tgid of a task_struct are those in
// the initial one.

#include <string>

#include "dvm/common/result.h"
#include "runtime/catalog/kernel_event.h"
#include "runtime/instrument/uprobe/kernel_types.h"

namespace dvm::runtime {

// The operand of a word. Of a number ("pid", "tgid", "real_parent.tgid"), the one in dvm's namespace, if that is not the initial
// one.
Result<Operand> resolve_number(bool is_initial, const KernelTypes& types, const std::string& tracepoint, const KernelWord& word);

}  // namespace dvm::runtime
