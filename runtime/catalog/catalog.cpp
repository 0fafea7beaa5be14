// The catalog and its globs. Covered by tests/unit/instrument/catalog_test.cpp.

#include "runtime/catalog/catalog.h"

#include <algorithm>
#include <functional>
#include <utility>

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

bool matches_function(std::string_view pattern, const Probe& p) {
  return glob_match(pattern, p.function) || std::any_of(p.other_names.begin(), p.other_names.end(),
                                                        [&](const std::string& name) { return glob_match(pattern, name); });
}

bool matches(const dif::ProbeDesc& d, const Probe& p) {
  if ((p.spell_provider && d.provider != p.provider) || (p.spell_function && d.function != p.function) ||
      (p.spell_name && d.name != p.name))
    return false;
  return glob_match(d.provider, p.provider) && glob_match(d.name, p.name) && matches_function(d.function, p) &&
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
  if (module == object && module_match(pattern, object.substr(object.rfind('/') + 1), "", false)) return true;
  if (in_program && (pattern == "a.out" || glob_match(pattern, object.substr(object.rfind('/') + 1)))) return true;
  if (module.size() > pattern.size() && module[pattern.size()] == '.' && module.starts_with(pattern)) return true;
  return pattern.find('/') != std::string_view::npos && glob_match(pattern, object);
}

uint32_t Catalog::hash(const Names& names) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15;
  uint64_t all = 0;
  for (const std::string_view field : {names.provider, names.module, names.function, names.name})
    all = (all ^ std::hash<std::string_view>()(field)) * kSpread;
  return static_cast<uint32_t>(all >> 32);
}

// At least half of the slots are free, so one is met soon.
uint32_t Catalog::find(const Names& names, uint32_t hash) const {
  if (by_name_.empty()) return 0;
  for (size_t at = hash;; at++) {
    const Slot& slot = by_name_[at & (by_name_.size() - 1)];
    if (slot.probe == 0 || (slot.hash == hash && names_of(probes_[slot.probe - 1]) == names)) return slot.probe;
  }
}

void Catalog::place(Slot slot) {
  size_t at = slot.hash;
  while (by_name_[at & (by_name_.size() - 1)].probe != 0) at++;
  by_name_[at & (by_name_.size() - 1)] = slot;
}

const Probe& Catalog::insert(Probe probe, uint32_t hash) {
  last_id_ = std::max(last_id_, probe.id);
  const Probe& kept = probes_.emplace_back(std::move(probe));
  if (by_name_.size() < 2 * probes_.size()) {
    constexpr size_t kFirst = 64;
    const std::vector<Slot> before = std::exchange(by_name_, std::vector<Slot>(std::max(kFirst, 4 * by_name_.size())));
    for (const Slot& slot : before)
      if (slot.probe != 0) place(slot);
  }
  place({hash, static_cast<uint32_t>(probes_.size())});
  if (kept.id != probes_.size()) by_id_.emplace(kept.id, &kept);
  return kept;
}

const Probe& Catalog::add(Probe probe) {
  const uint32_t hashed = hash(names_of(probe));
  if (const uint32_t place = find(names_of(probe), hashed)) {
    Probe& known = probes_[place - 1];
    for (std::string& name : probe.other_names)
      if (std::find(known.other_names.begin(), known.other_names.end(), name) == known.other_names.end())
        known.other_names.push_back(std::move(name));
    return known;
  }
  probe.id = last_id_ + 1;
  return insert(std::move(probe), hashed);
}

bool Catalog::add_with_id(Probe probe) {
  const uint32_t hashed = hash(names_of(probe));
  if (probe.id == 0 || probe.id == UINT32_MAX || find(probe.id) || find(names_of(probe), hashed)) return false;
  insert(std::move(probe), hashed);
  return true;
}

const Probe* Catalog::find(uint32_t id) const {
  if (id > 0 && id <= probes_.size() && probes_[id - 1].id == id) return &probes_[id - 1];
  const auto found = by_id_.find(id);
  return found == by_id_.end() ? nullptr : found->second;
}

std::vector<const Probe*> Catalog::match(const dif::ProbeDesc& d) const {
  if (!is_glob(d.provider) && !is_glob(d.module) && !is_glob(d.function) && !is_glob(d.name)) {
    const Names names{d.provider, d.module, d.function, d.name};
    if (const uint32_t place = find(names, hash(names))) return {&probes_[place - 1]};
  }
  std::vector<const Probe*> found;
  for (const Probe& probe : probes_) {
    if (matches(d, probe)) found.push_back(&probe);
  }
  return found;
}

}  // namespace dvm::runtime
