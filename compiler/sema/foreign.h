#pragma once
// Names that DTrace has on other systems, and names of bpftrace and C (foreign.def).

#include <string>
#include <string_view>
#include <vector>

namespace dvm::compiler {

// Why dvm does not have that name; empty if it is not in the table.
std::string_view foreign_reason(std::string_view name);
// The same for the name or tag of a type.
std::string_view foreign_type_reason(std::string_view name);
// What to use instead of that variable of a kernel.
std::string_view foreign_data_substitute(std::string_view name);
// What D has for a word of bpftrace, as hints; none if it is not in the table.
std::vector<std::string> bpftrace_hints(std::string_view name);
// The same for a word of bpftrace or C in an expression.
std::vector<std::string> word_hints(std::string_view name);

}  // namespace dvm::compiler
