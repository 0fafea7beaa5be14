#pragma once
// The conversions of a format string of printf() or printa().

#include <string>
#include <string_view>
#include <vector>

namespace dvm::compiler {

struct Conversion {
  std::string name;  // size and letter: "d", "lld", "s"
  char letter = 0;
  bool is_aggregation = false;  // %@
  bool dynamic_width = false;
  bool dynamic_precision = false;
};

// False, with a reason, if the format is malformed. "%%" is not a conversion.
bool parse_format(std::string_view format, std::vector<Conversion>& conversions, std::string& reason);

}  // namespace dvm::compiler
