#pragma once
// Run-time options, made from vm/dif/options.def.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "dvm/common/result.h"
#include "dvm/dif/subroutine.h"

namespace dvm::dif {

enum class Option : uint8_t {
#define DVM_OPTION(name, kind, standard, most, when, support, text) name,
#include "vm/dif/options.def"
};

enum class OptionKind : uint8_t {
#define DVM_OPTION_KIND(name, words, expected) name,
#include "vm/dif/option_kinds.def"
};

struct OptionKindInfo {
  std::string_view name;
  std::string_view words;  // separated by blanks
  std::string_view expected;
};

inline constexpr std::array kOptionKinds = {
#define DVM_OPTION_KIND(name, words, expected) OptionKindInfo{#name, words, expected},
#include "vm/dif/option_kinds.def"
};
constexpr const OptionKindInfo& info(OptionKind kind) { return kOptionKinds[static_cast<size_t>(kind)]; }

// The places that may set an option. dynamic: setopt(), pragmas and the command line. program: pragmas and the command line.
// command: the command line alone.
enum class OptionTime : uint8_t { dynamic, program, command };

struct OptionInfo {
  Option id;
  std::string_view name;
  OptionKind kind;
  int64_t standard;
  int64_t most;  // -1: no limit of its own
  OptionTime when;
  std::string_view unsupported;
  std::string_view text;
};

// A row whose name is a C++ keyword ends with an underscore: `return_`.
constexpr std::string_view spelled(std::string_view row) { return row.substr(0, row.size() - (row.ends_with('_') ? 1 : 0)); }

inline constexpr std::array kOptions = {
#define DVM_OPTION(name, kind, standard, most, when, support, text) \
  OptionInfo{Option::name, spelled(#name), OptionKind::kind, standard, most, OptionTime::when, support, text},
#include "vm/dif/options.def"
};
inline constexpr unsigned kOptionCount = kOptions.size();

constexpr const OptionInfo& info(Option option) { return kOptions[static_cast<size_t>(option)]; }
// Null: there is no such option.
constexpr const OptionInfo* find_option(std::string_view name) {
  for (const OptionInfo& row : kOptions)
    if (row.name == name) return &row;
  return nullptr;
}

// The values of all options. set() takes the text after "name=" (empty if there is no "="), and the place that sets the option.
// Its errors have dtrace's words, for example "Invalid option name" or "Invalid value for specified option".
class Options {
 public:
  Options();
  int64_t operator[](Option option) const { return values_[static_cast<unsigned>(option)]; }
  // The texts given for an option of kind text, in order.
  const std::vector<std::string>& texts(Option option) const { return texts_[static_cast<unsigned>(option)]; }
  Status set(std::string_view name, std::string_view value, OptionTime from = OptionTime::command);

 private:
  std::array<int64_t, kOptionCount> values_;  // of an option of kind text: the number of texts
  std::array<std::vector<std::string>, kOptionCount> texts_;
};

// The bytes of the largest alloca(): option scratchsize, or 64 KiB or 16 strings if it is not set, rounded up to words.
uint64_t scratch_size(const Options& options);

// The values that an option accepts, if they can be listed: words, on and off, versions of D. Empty: numbers, texts and the like.
std::vector<std::string> option_words(const OptionInfo& option);

// Hints for an option that set() rejects: similar names, or the values that it accepts.
std::vector<std::string> option_hints(std::string_view name);

}  // namespace dvm::dif
