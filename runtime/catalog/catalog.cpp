// The catalog and its globs. Covered by tests/unit/instrument/catalog_test.cpp.

#include "runtime/catalog/catalog.h"

#include <algorithm>

namespace dvm::runtime {
namespace {

// Reads one [...] at the start of `pattern` ('[' itself taken off already). Returns how many characters it has, 0 if it is not
// closed and so stands for itself; `hit` says whether `c` is in it.
size_t match_class(std::string_view pattern, char c, bool& hit) {
  size_t i = 0;
  bool negated = !pattern.empty() && pattern[0] == '!';
  if (negated) i++;
  hit = false;
  for (size_t first = i; i < pattern.size(); i++) {
    if (pattern[i] == ']' && i > first) {
      hit = hit != negated;
      return i + 1;
    }
    if (pattern[i] == '\\' && i + 1 < pattern.size()) i++;
    char low = pattern[i], high = low;
    if (i + 2 < pattern.size() && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
      i += 2;
      if (pattern[i] == '\\' && i + 1 < pattern.size()) i++;
      high = pattern[i];
    }
    hit |= low <= c && c <= high;
  }
  return 0;
}

// Matches one character against the element at the start of the pattern, which is no '*'. Returns the element's length; 0: no
// match.
size_t match_one(std::string_view pattern, char c) {
  if (pattern[0] == '?') return 1;
  if (pattern[0] == '[') {
    bool hit = false;
    size_t length = match_class(pattern.substr(1), c, hit);
    if (length > 0) return hit ? length + 1 : 0;
  }
  if (pattern[0] == '\\' && pattern.size() > 1) return pattern[1] == c ? 2 : 0;
  return pattern[0] == c ? 1 : 0;
}

void append_field(std::string& key, std::string_view field) {
  key.append(field);
  key.push_back('\0');  // no name has one, so keys are unambiguous
}

std::string key_of(std::string_view provider, std::string_view module, std::string_view function, std::string_view name) {
  std::string key;
  key.reserve(provider.size() + module.size() + function.size() + name.size() + 4);
  for (std::string_view field : {provider, module, function, name}) append_field(key, field);
  return key;
}

bool matches(const dif::ProbeDesc& d, const Probe& p) {
  if ((p.spell_provider && d.provider != p.provider) || (p.spell_function && d.function != p.function)) return false;
  return glob_match(d.provider, p.provider) && glob_match(d.name, p.name) &&
         (glob_match(d.function, p.function) || (!p.demangled.empty() && glob_match(d.function, p.demangled))) &&
         module_match(d.module, p.module, p.object, p.in_program);
}

}  // namespace

bool is_glob(std::string_view pattern) { return pattern.empty() || pattern.find_first_of("*?[\\") != std::string_view::npos; }

// After a mismatch only the last '*' takes one character more: no earlier one can help, so the time is at most the product of
// both lengths.
bool glob_match(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return true;
  size_t p = 0, t = 0, star = std::string_view::npos, star_text = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_text = t;
      continue;
    }
    size_t length = p < pattern.size() ? match_one(pattern.substr(p), text[t]) : 0;
    if (length > 0) {
      p += length;
      t++;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++star_text;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

bool module_match(std::string_view pattern, std::string_view module, std::string_view object, bool in_program) {
  if (glob_match(pattern, module)) return true;
  if (object.empty()) return false;
  if (in_program && pattern == "a.out") return true;
  if (module.size() > pattern.size() && module[pattern.size()] == '.' && module.starts_with(pattern)) return true;
  return pattern.find('/') != std::string_view::npos && glob_match(pattern, object);
}

const Probe& Catalog::insert(Probe probe, std::string key) {
  last_id_ = std::max(last_id_, probe.id);
  const Probe& kept = probes_.emplace_back(std::move(probe));
  by_name_.emplace(std::move(key), &kept);
  by_id_.emplace(kept.id, &kept);
  return kept;
}

const Probe& Catalog::add(Probe probe) {
  std::string key = key_of(probe.provider, probe.module, probe.function, probe.name);
  if (auto found = by_name_.find(key); found != by_name_.end()) return *found->second;
  probe.id = last_id_ + 1;
  return insert(std::move(probe), std::move(key));
}

bool Catalog::add_with_id(Probe probe) {
  std::string key = key_of(probe.provider, probe.module, probe.function, probe.name);
  if (probe.id == 0 || probe.id == UINT32_MAX || by_id_.contains(probe.id) || by_name_.contains(key)) return false;
  insert(std::move(probe), std::move(key));
  return true;
}

const Probe* Catalog::find(uint32_t id) const {
  auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<const Probe*> Catalog::match(const dif::ProbeDesc& d) const {
  if (!is_glob(d.provider) && !is_glob(d.module) && !is_glob(d.function) && !is_glob(d.name)) {
    auto found = by_name_.find(key_of(d.provider, d.module, d.function, d.name));
    if (found != by_name_.end()) return {found->second};
  }
  std::vector<const Probe*> found;
  for (const Probe& probe : probes_) {
    if (matches(d, probe)) found.push_back(&probe);
  }
  return found;
}

}  // namespace dvm::runtime
