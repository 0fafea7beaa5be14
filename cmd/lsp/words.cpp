// Covered by tests/runtime/scenarios/test_lsp.py.

#include "cmd/lsp/words.h"

#include <fmt/format.h>

#include <algorithm>

#include "dvm/dif/action.h"
#include "dvm/dif/option.h"
#include "dvm/dif/subroutine.h"
#include "dvm/dif/variable.h"

namespace dvm::cmd::lsp {
namespace {

std::string called(std::string_view name, std::string_view arguments) {
  std::string text(arguments);
  for (size_t at = 0; (at = text.find(' ', at)) != std::string::npos; at += 2) text.replace(at, 1, ", ");
  return fmt::format("{}({})", name, text);
}

std::string with_refusal(std::string_view text, std::string_view unsupported) {
  return unsupported.empty() ? std::string(text) : fmt::format("{}\n\nRefused: {}", text, unsupported);
}

std::vector<LanguageWord> make_words() {
  std::vector<LanguageWord> all;
  for (const dif::BuiltInInfo& row : dif::kBuiltIns)
    if (row.family != dif::VariableFamily::none && !row.name.starts_with("dvm_"))
      all.push_back({std::string(row.name), WordKind::variable, std::string(row.type), std::string(row.text)});
  for (const dif::ActionInfo& row : dif::kActions)
    if (row.id != dif::Action::expression)
      all.push_back({std::string(row.name), WordKind::function, called(row.name, row.arguments.text()),
                     with_refusal(row.text, row.unsupported)});
  for (const dif::AggregationInfo& row : dif::kAggregations)
    all.push_back(
        {std::string(row.name), WordKind::function, "@ = " + called(row.name, row.arguments.text()), std::string(row.text)});
  for (const dif::SubroutineInfo& row : dif::kSubroutines)
    if (!row.name.starts_with("dvm_"))
      all.push_back({std::string(row.name), WordKind::function,
                     fmt::format("{} {}", row.result, called(row.name, row.arguments.text())),
                     with_refusal(row.text, row.unsupported)});
  return all;
}

std::vector<LanguageWord> make_options() {
  std::vector<LanguageWord> all;
  for (const dif::OptionInfo& row : dif::kOptions)
    all.push_back({std::string(row.name), WordKind::property, std::string(row.name), with_refusal(row.text, row.unsupported)});
  return all;
}

}  // namespace

const std::vector<LanguageWord>& words() {
  static const std::vector<LanguageWord> all = make_words();
  return all;
}

const std::vector<LanguageWord>& options() {
  static const std::vector<LanguageWord> all = make_options();
  return all;
}

const LanguageWord* find_word(const std::vector<LanguageWord>& words, std::string_view name) {
  const auto found = std::find_if(words.begin(), words.end(), [&](const LanguageWord& one) { return one.name == name; });
  return found == words.end() ? nullptr : &*found;
}

}  // namespace dvm::cmd::lsp
