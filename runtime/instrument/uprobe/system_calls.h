#pragma once
// The parameters of system calls and what they return, as the kernel's trace events describe them
// (events/syscalls/sys_enter_NAME/format). Linux keeps these files in tracefs. Where that is not mounted, dvm reads them in a
// mount of its own that no other process sees.

#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"

namespace dvm::runtime {

struct CallParameter {
  std::string type, name;  // "const char *", "filename"
};

// name: of <asm/unistd.h>. The error says what could not be read.
Result<std::vector<CallParameter>> call_parameters(std::string_view name, bool is_return);

// The fields behind the number of the system call.
std::vector<CallParameter> parse_event_format(std::string_view text);

// The words of a type, without const and its like.
struct SpelledType {
  std::string_view keyword;  // struct, union, enum or nothing
  std::string name;          // "long unsigned int", as the kernel's own types spell it
  unsigned pointers = 0;
};
SpelledType parse_type(std::string_view text);

}  // namespace dvm::runtime
