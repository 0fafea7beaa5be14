#pragma once
// Programs that valgrind runs. It executes copies that it makes of their code. It would copy the int3 of a uprobe and the jump of
// an agent, too: neither reaches its tracer, and the program ends by SIGTRAP.

#include <sys/types.h>

#include <string_view>

namespace dvm::runtime {

constexpr std::string_view kEmulated = "valgrind executes copies of its code, where a probe would end it";

// True also for the script and the program that start valgrind.
bool is_emulated(pid_t pid);

}  // namespace dvm::runtime
