// Tested by tests/unit/instrument/capture_test.cpp.
#include "runtime/instrument/known_value.h"

#include "dvm/dif/arithmetic.h"

namespace dvm::runtime::known {

using dif::Opcode;

namespace {

KnownValue limited(const KnownValue& word, const KnownValue& limit) {
  if (!word.is_word() || word.number != 0 || !limit.is_constant()) return {};
  return {KnownValue::Kind::limited, word.word, limit.number};
}

// "pointer != NULL ? pointer->member : NULL" leads to the member: what is captured in vain harms nothing. A word alone may be a
// size with the limit 0.
bool is_null_beside(const KnownValue& null, const KnownValue& word) {
  return null == KnownValue::constant(0) && word.is_word() && word.number != 0;
}

KnownValue join(const KnownValue& a, const KnownValue& b) {
  if (a == b) return a;
  if (is_null_beside(a, b)) return b;
  if (is_null_beside(b, a)) return a;
  return a.is_constant() ? limited(b, a) : limited(a, b);
}

// fds[N] of the library io takes the lower 32 bits of N, times 8.
KnownValue of_descriptor(Opcode op, const KnownValue& a, const KnownValue& b) {
  constexpr uint64_t kUpperHalf = 32, kPerFile = 8;
  const auto becomes = [&](KnownValue::Kind kind) { return KnownValue{kind, a.word, a.number}; };
  if (op == Opcode::sll && a.is_word() && b.number == kUpperHalf) return becomes(KnownValue::Kind::shifted);
  if (op == Opcode::sra && a.kind == KnownValue::Kind::shifted && b.number == kUpperHalf)
    return becomes(KnownValue::Kind::narrow);
  const bool is_scaled = a.kind == KnownValue::Kind::scaled;
  if ((op == Opcode::mul && a.is_word() && b.number == kPerFile) || (op == Opcode::sll && a.is_word() && b.number == 3))
    return becomes(KnownValue::Kind::scaled);
  if (is_scaled && ((op == Opcode::udiv && b.number == kPerFile) || (op == Opcode::srl && b.number == 3)))
    return becomes(KnownValue::Kind::word);
  if (is_scaled && op == Opcode::add && b.number == 0) return a;
  if (op == Opcode::mul && a.kind == KnownValue::Kind::narrow && b.number == kPerFile) return becomes(KnownValue::Kind::file);
  if (op == Opcode::sll && a.kind == KnownValue::Kind::narrow && b.number == 3) return becomes(KnownValue::Kind::file);
  return op == Opcode::add && a.kind == KnownValue::Kind::file && b.number < kPerFile ? a : KnownValue{};
}

KnownValue plus(const KnownValue& a, const KnownValue& b) {
  if (a.is_constant() && b.is_constant()) return KnownValue::constant(a.number + b.number);
  const auto moves = [](const KnownValue& value) { return value.is_address() || value.kind == KnownValue::Kind::other; };
  if (moves(a) && b.is_constant()) return {a.kind, a.word, a.number + b.number, a.variable};
  if (moves(b) && a.is_constant()) return {b.kind, b.word, b.number + a.number, b.variable};
  return {};
}

}  // namespace

KnownValue KnownValue::of_variable(const KnownValue& value) {
  constexpr uint64_t kFirst = 4096, kBehind = uint64_t{1} << 47;
  const bool is_address = value.is_constant() && value.number >= kFirst && value.number < kBehind;
  return is_address ? KnownValue{Kind::word, Word::zero(), value.number} : value;
}

void join_locals(Locals& into, const Locals& from) {
  std::erase_if(into, [&](const auto& entry) {
    const auto other = from.find(entry.first);
    return other == from.end() || other->second != entry.second;
  });
}

void keep_words(Locals& variables, const Locals& after) {
  for (const auto& [variable, value] : after)
    if (value.is_address()) variables[variable] = value;
}

void join(KnownState& into, const KnownState& from) {
  for (size_t i = 0; i < into.registers.size(); i++) into.registers[i] = join(into.registers[i], from.registers[i]);
  if (into.tuple.size() != from.tuple.size()) into.tuple.clear();  // the verifier rejects this
  for (size_t i = 0; i < into.tuple.size(); i++) into.tuple[i] = join(into.tuple[i], from.tuple[i]);
  join_locals(into.locals, from.locals);
}

KnownValue of_operation(Opcode op, const KnownValue& a, const KnownValue& b) {
  if (b.is_constant() && !a.is_constant())
    if (const KnownValue found = of_descriptor(op, a, b); found.kind != KnownValue::Kind::unknown) return found;
  if (op == Opcode::add && (b.kind == KnownValue::Kind::file || b.kind == KnownValue::Kind::scaled))
    return of_operation(op, b, a);
  if (op == Opcode::and_ && b == KnownValue::constant(0)) return b;
  if (op == Opcode::add) return plus(a, b);
  if (op == Opcode::sub && b.is_constant()) return plus(a, KnownValue::constant(0 - b.number));
  const auto result = a.is_constant() && b.is_constant() ? dif::arithmetic(op, a.number, b.number) : std::nullopt;
  return result ? KnownValue::constant(*result) : KnownValue{};
}

}  // namespace dvm::runtime::known
