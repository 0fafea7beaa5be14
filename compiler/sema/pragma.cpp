// #pragma D option name=value. Tests: tests/golden/sema (err.D_PRAGMA_*.d).
#include "compiler/sema/pragma.h"

#include <fmt/format.h>

#include <cctype>

#include "dvm/dif/option.h"

namespace dvm::compiler {

namespace {

std::vector<std::string> words(std::string_view text) {
  std::vector<std::string> list;
  std::string word;
  for (const char c : text) {
    if (!std::isspace(static_cast<unsigned char>(c))) {
      word += c;
    } else if (!word.empty()) {
      list.push_back(std::move(word));
      word.clear();
    }
  }
  if (!word.empty()) list.push_back(std::move(word));
  return list;
}

// Some options are the compiler's own, from their line on.
void take_effect(std::string_view name, const dif::Options& set, CompileOptions& how) {
  if (name == "defaultargs") how.default_arguments = set[dif::Option::defaultargs] != 0;
  if (name == "argref") how.refuse_unused_arguments = set[dif::Option::argref] == 0;
  if (name == "zdefs") how.allow_zero_matches = set[dif::Option::zdefs] != 0;
}

void set_option(const Pragma& pragma, const std::vector<std::string>& w, Session& s,
                std::vector<std::pair<std::string, std::string>>& options) {
  if (w.size() != 4)
    return s.error(Tag::D_PRAGMA_MALFORM, pragma.where, fmt::format("malformed #pragma option: expected name[=value]"));
  const size_t equals = w[3].find('=');
  const std::string name = w[3].substr(0, equals), value = equals == std::string::npos ? "" : w[3].substr(equals + 1);
  dif::Options scratch;
  if (const Status set = scratch.set(name, value); !set)
    return s.error(Tag::D_PRAGMA_OPTSET, pragma.where,
                   fmt::format("failed to set option '{}'{}: {}", name, value.empty() ? "" : fmt::format(" to '{}'", value),
                               set.error().message),
                   dif::option_hints(name));
  take_effect(name, scratch, s.options);
  options.emplace_back(name, value);
}

}  // namespace

void apply(const Pragma& pragma, Session& s, std::vector<std::pair<std::string, std::string>>& options) {
  const std::vector<std::string> w = words(pragma.text);
  if (w.empty() || std::isdigit(static_cast<unsigned char>(w[0][0])) || w[0] == "line" || w[0] == "ident") return;
  if (w[0] == "error") return s.error(Tag::D_PRAGERR, pragma.where, fmt::format("#{}", pragma.text));
  if (w[0] != "pragma") return s.error(Tag::D_PRAGCTL_INVAL, pragma.where, fmt::format("invalid control directive: #{}", w[0]));
  if (w.size() < 2 || w[1] == "ident") return;
  if (w[1] == "error") return s.error(Tag::D_PRAGERR, pragma.where, fmt::format("#{}", pragma.text));
  if (w[1] != "D") return;  // of another language
  if (w.size() < 3) return s.error(Tag::D_PRAGMA_MALFORM, pragma.where, "malformed #pragma D: expected a keyword");
  if (w[2] == "option") return set_option(pragma, w, s, options);
  if (w[2] == "attributes" || w[2] == "binding" || w[2] == "depends_on")
    return;  // stability and libraries: nothing here has them
  s.error(Tag::D_PRAGMA_INVAL, pragma.where, fmt::format("#pragma D {}: invalid pragma", w[2]));
}

}  // namespace dvm::compiler
