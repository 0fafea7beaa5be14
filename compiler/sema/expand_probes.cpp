// "pid$target:a.out:main:entry" to its four fields. Tests: tests/unit/compiler/compile_test.cpp.
#include "compiler/sema/expand_probes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "compiler/parse/literal.h"
#include "compiler/sema/macros.h"

namespace dvm::compiler {

namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// A name after $ runs to the next character that cannot be in one; $1 only over digits, so that pid$1foo means $1.
std::optional<std::string> expand(const ProbeName& probe, Session& s) {
  std::string text;
  for (size_t i = 0; i < probe.text.size();) {
    const bool dollar = probe.text[i] == '$' && i + 1 < probe.text.size() && is_word(probe.text[i + 1]);
    if (!dollar) {
      text += probe.text[i++];
      continue;
    }
    size_t end = i + 1;
    const bool digits = std::isdigit(static_cast<unsigned char>(probe.text[end]));
    while (end < probe.text.size() &&
           (digits ? std::isdigit(static_cast<unsigned char>(probe.text[end])) != 0 : is_word(probe.text[end])))
      end++;
    const Location where{probe.where.begin + static_cast<uint32_t>(i), probe.where.begin + static_cast<uint32_t>(end)};
    const std::string_view name = std::string_view(probe.text).substr(i + 1, end - i - 1);
    const bool is_kept = s.options.keep_target && name == "target";
    const auto value = is_kept ? "$target" : macro_text(name, where, s);
    if (!value) return {};
    text += *value;
    i = end;
  }
  return text;
}

// Fields are given from the right: "entry" is a name, "f:entry" a function and a name.
bool split(const std::string& text, dif::ProbeDesc& desc) {
  std::string* fields[] = {&desc.name, &desc.function, &desc.module, &desc.provider};
  size_t field = 0;
  for (size_t end = text.size() + 1; end > 0; field++) {
    const size_t colon = end >= 2 ? text.rfind(':', end - 2) : std::string::npos;
    const size_t begin = colon == std::string::npos ? 0 : colon + 1;
    if (field == 4) return false;
    *fields[field] = text.substr(begin, end - 1 - begin);
    end = begin;
  }
  return true;
}

std::string spell(const dif::ProbeDesc& d) { return fmt::format("{}:{}:{}:{}", d.provider, d.module, d.function, d.name); }

bool match(const ProbeName& probe, const dif::ProbeDesc& desc, CheckedClause& checked, Session& s) {
  if (!s.options.catalog) return true;
  const ProbeMatches found = s.options.catalog->match(desc);
  checked.matched += found.count;
  if (found.count != 0 || s.options.allow_zero_matches) return true;
  std::vector<std::string> hints;
  for (const std::string& name : found.similar) hints.push_back(fmt::format("did you mean '{}'?", name));
  const std::string message =
      found.reason.empty() ? fmt::format("probe description {} does not match any probes", spell(desc)) : found.reason;
  Tag tag = Tag::D_PDESC_ZERO;
  if (!found.tag.empty()) tag = find_tag(found.tag).value_or(tag);
  s.error(tag, probe.where, message, std::move(hints));
  return false;
}

// "5", as the list of probes numbers them.
bool expand_id(const ProbeName& probe, CheckedClause& checked, Session& s) {
  const auto id = parse_integer(probe.text, probe.where, s.diagnostics);
  const auto desc = s.options.catalog ? s.options.catalog->find(id->value) : std::nullopt;
  if (!desc) {
    s.error(Tag::D_PDESC_INVAL, probe.where, fmt::format("invalid probe identifier {}: no probe has this number", probe.text));
    return false;
  }
  checked.probes.push_back(*desc);
  checked.matched++;
  return true;
}

}  // namespace

bool expand_probes(const Clause& clause, CheckedClause& checked, Session& s) {
  bool good = true;
  for (const ProbeName& probe : clause.probes) {
    if (probe.is_id) {
      good &= expand_id(probe, checked, s);
      continue;
    }
    const auto text = expand(probe, s);
    dif::ProbeDesc desc;
    if (!text) {
      good = false;
    } else if (!split(*text, desc)) {
      s.error(Tag::D_PDESC_INVAL, probe.where, fmt::format("invalid probe description \"{}\": more than four fields", *text));
      good = false;
    } else {
      good &= match(probe, desc, checked, s);
      checked.probes.push_back(std::move(desc));
    }
  }
  return good;
}

}  // namespace dvm::compiler
