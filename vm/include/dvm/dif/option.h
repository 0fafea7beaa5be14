#pragma once
// Run-time options, made from vm/dif/options.def.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "dvm/dif/subroutine.h"

namespace dvm::dif {

enum class Option : uint8_t {
#define DVM_OPTION(name, kind, standard, most, dynamic, support, text) name,
#include "vm/dif/options.def"
};

enum class OptionKind : uint8_t { size, rate, number, flag, policy, text, version, attributes };

struct OptionInfo {
  Option id;
  std::string_view name;
  OptionKind kind;
  int64_t standard;
  int64_t most;  // -1: no limit of its own
  bool dynamic;
  std::string_view unsupported;
  std::string_view text;
};

inline constexpr std::array kOptions = {
#define DVM_DYNAMIC_yes true
#define DVM_DYNAMIC_no false
#define DVM_OPTION(name, kind, standard, most, dynamic, support, text) \
  OptionInfo{Option::name, #name, OptionKind::kind, standard, most, DVM_DYNAMIC_##dynamic, support, text},
#include "vm/dif/options.def"
#undef DVM_DYNAMIC_yes
#undef DVM_DYNAMIC_no
};
inline constexpr unsigned kOptionCount = kOptions.size();

// The values of all options. set() takes the text after "name=" ("" when there was no "="); its errors read as dtrace's:
// "Invalid option name", "Invalid value for specified option" and kin.
class Options {
 public:
  Options();
  int64_t operator[](Option option) const { return values_[static_cast<unsigned>(option)]; }
  // What was given for an option of kind text, in order.
  const std::vector<std::string>& texts(Option option) const { return texts_[static_cast<unsigned>(option)]; }
  Status set(std::string_view name, std::string_view value);

 private:
  std::array<int64_t, kOptionCount> values_;  // of texts: how many were given
  std::array<std::vector<std::string>, kOptionCount> texts_;
};

// What to tell who gave an option that set() refuses: near names, or the values that it takes.
std::vector<std::string> option_hints(std::string_view name);

}  // namespace dvm::dif
