#pragma once
// Names that DTrace has on other systems (foreign.def).

#include <string_view>

namespace dvm::compiler {

// Why dvm does not have that name; empty if it is not in the table.
std::string_view foreign_reason(std::string_view name);
// The same for the name or tag of a type.
std::string_view foreign_type_reason(std::string_view name);

}  // namespace dvm::compiler
