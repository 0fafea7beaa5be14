#pragma once
// How the thread makes the keys of an aggregation, and how dvm reads them.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "runtime/instrument/agent/arena_reader.h"
#include "runtime/instrument/agent/text_key.h"
#include "runtime/instrument/agent/value_code.h"
#include "runtime/instrument/site_clause.h"

namespace dvm::runtime {

// It can only be known when the thread has tried to compute it.
inline bool may_be_unreadable(const AgentKey& key) {
  return key.code.may_fail || key.key.kind == inside::KeyKind::string || key.key.kind == inside::KeyKind::name;
}

// Makes the key of a string that is no constant. Returns why it has no code.
inline InDvm make_key(const TextKey& text, const ClausePlace& place, AgentKey& to) {
  using inside::KeyKind;
  to.key.most = text.most;
  to.key.variable = text.number;
  to.key.kind = text.kind == TextKey::Kind::copied     ? KeyKind::string
                : text.kind == TextKey::Kind::variable ? KeyKind::text
                                                       : KeyKind::name;
  if (text.kind != TextKey::Kind::copied) return InDvm::nothing;
  ValueMachineCode code = make_value_code(text.address, {dif::TypeKind::integer, false, false, 8, ""}, place);
  to.code = std::move(code.code);
  return code.in_dvm;
}

class KeyMaker {
 public:
  explicit KeyMaker(const ClausePlace& place) : place_(place) {}

  // Returns why it has no code.
  InDvm add(const SiteValue& value, uint32_t strsize) {
    if (value.frames != 0) return add_stack(value.frames);
    if (value.type.kind != dif::TypeKind::string) return add(*value.difo, value.type, inside::KeyKind::integer, 0);
    auto text = text_key_of(*value.difo, place_.probe, strsize);
    if (!text) return InDvm::code;
    if (text->kind != TextKey::Kind::constant) {
      AgentKey key;
      const InDvm reason = make_key(*text, place_, key);
      return reason == InDvm::nothing ? add(std::move(key)) : reason;
    }
    parts.push_back({KeyPart::Kind::constant, 0, std::move(text->words)});
    return InDvm::nothing;
  }
  bool do_fit() const { return keys.size() <= inside::kMostKeys && words_ < inside::kMostKeyWords; }
  bool may_fail() const { return std::any_of(keys.begin(), keys.end(), may_be_unreadable); }

  std::vector<AgentKey> keys;
  std::vector<KeyPart> parts;

 private:
  InDvm add(const dif::Difo& difo, const dif::DataType& type, inside::KeyKind kind, uint32_t most) {
    ValueMachineCode code = make_value_code(difo, type, place_);
    return code.in_dvm == InDvm::nothing ? add({{0, kind, most}, std::move(code.code)}) : code.in_dvm;
  }
  InDvm add(AgentKey key) {
    const uint32_t most = key.key.most;
    parts.push_back({key.key.kind == inside::KeyKind::integer ? KeyPart::Kind::integer : KeyPart::Kind::string, most, {}});
    words_ += most / sizeof(uint64_t) + 1;
    keys.push_back(std::move(key));
    return InDvm::nothing;
  }
  InDvm add_stack(uint32_t frames) {
    const SiteShape& shape = place_.shape;
    const uint32_t known = known_frames(shape.kind);
    if (frames > known && !place_.by_frame_pointers) return InDvm::unwound;
    const int32_t return_at = shape.kind == SiteKind::entry ? shape.stack_moved : -1;
    const uint32_t most = std::min<uint32_t>(frames, kMostFrames);
    keys.push_back({{0, inside::KeyKind::stack, most, return_at}, {}});
    parts.push_back({KeyPart::Kind::stack, most, {}, known});
    words_ += most + 2;
    return InDvm::nothing;
  }

  const ClausePlace& place_;
  size_t words_ = 0;  // of all keys
};

}  // namespace dvm::runtime
