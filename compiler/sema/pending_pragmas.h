#pragma once
// #pragma D attributes and binding about names that are not declared yet.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compiler/source/source_file.h"
#include "dvm/dif/stability.h"

namespace dvm::compiler {

struct PendingPragma {
  std::string_view pragma;  // "attributes" or "binding"
  std::string name;
  Location where;
  std::optional<dif::Attributes> attributes;
  std::optional<uint32_t> version;
  size_t translators = 0;  // the number of translators before the pragma; the name "translator" means the next one
};
using PendingPragmas = std::vector<PendingPragma>;

}  // namespace dvm::compiler
