#pragma once
// Names of DTrace on other systems (foreign.def).

#include <string_view>

namespace dvm::compiler {

// Why a name of other systems means nothing here (foreign.def); empty when it is none.
std::string_view foreign_reason(std::string_view name);
// The same for the name or tag of a type.
std::string_view foreign_type_reason(std::string_view name);

}  // namespace dvm::compiler
