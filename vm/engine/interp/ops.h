#pragma once
// The body of each opcode, with the name of its row in opcodes.def; a row without a body does not compile. Arithmetic is in
// arithmetic.def. A body relies on the verifier. Registers are in range, and %r0 is not written. Table entries and variables
// exist. The tuple stack has room, and holds the arguments of a subroutine. vm/state checks addresses. Probe context.

#include "dvm/dif/arithmetic.h"
#include "vm/engine/interp/op.h"
#include "vm/state/memory_access.h"
#include "vm/state/variable_access.h"

namespace dvm::vm::interp {

// The next step of the dispatch.
enum class NextStep : uint8_t { next, jump, stop };

// The condition codes n, z, v and c of left - right, stored as the two numbers that were compared.
struct ConditionCodes {
  uint64_t left = dif::kNoComparison.left, right = dif::kNoComparison.right;
  bool less() const { return static_cast<int64_t>(left) < static_cast<int64_t>(right); }
};

#define DVM_BODY(name)                                                                                                 \
  [[gnu::always_inline]] inline NextStep op_##name([[maybe_unused]] const DecodedOp& op, [[maybe_unused]] uint64_t* r, \
                                                   [[maybe_unused]] ConditionCodes& flags,                             \
                                                   [[maybe_unused]] State& state) noexcept

[[gnu::always_inline]] inline NextStep unless_faulted(const State& state) {
  return state.faulted() ? NextStep::stop : NextStep::next;
}
[[gnu::always_inline]] inline NextStep jump_if(bool taken) { return taken ? NextStep::jump : NextStep::next; }

// Arithmetic.
using dif::signed_quotient, dif::signed_remainder, dif::signed_shift;
#define DVM_ARITHMETIC(name, expression)       \
  DVM_BODY(name) {                             \
    const uint64_t a = r[op.r1], b = r[op.r2]; \
    r[op.rd] = (expression);                   \
    return NextStep::next;                     \
  }
#define DVM_DIVISION(name, expression)         \
  DVM_BODY(name) {                             \
    const uint64_t a = r[op.r1], b = r[op.r2]; \
    if (b == 0) {                              \
      state.set_fault(dif::Fault::divzero);    \
      return NextStep::stop;                   \
    }                                          \
    r[op.rd] = (expression);                   \
    return NextStep::next;                     \
  }
#include "vm/dif/arithmetic.def"

DVM_BODY(not_) {
  r[op.rd] = ~r[op.r1];
  return NextStep::next;
}
DVM_BODY(mov) {
  r[op.rd] = r[op.r1];
  return NextStep::next;
}
DVM_BODY(nop) { return NextStep::next; }

// Comparisons and branches.
DVM_BODY(cmp) {
  flags = {r[op.r1], r[op.r2]};
  return NextStep::next;
}
DVM_BODY(tst) {
  flags = {r[op.r1] != 0, 0};
  return NextStep::next;
}
// NULL compares as the empty string.
inline std::optional<std::string_view> compared_string(State& state, uint64_t address) noexcept {
  return address == 0 ? std::string_view() : string_at(state, address);
}
// Sets the condition codes as if r1 - r2 had the sign of the comparison, without overflow or borrow.
DVM_BODY(scmp) {
  const auto left = compared_string(state, r[op.r1]);
  const auto right = left ? compared_string(state, r[op.r2]) : std::nullopt;
  if (!right) return NextStep::stop;
  state.units += left->size();
  flags = {static_cast<uint64_t>(int64_t{left->compare(*right)}), 0};
  return NextStep::next;
}
DVM_BODY(ba) { return NextStep::jump; }
DVM_BODY(be) { return jump_if(flags.left == flags.right); }
DVM_BODY(bne) { return jump_if(flags.left != flags.right); }
DVM_BODY(bg) { return jump_if(!flags.less() && flags.left != flags.right); }
DVM_BODY(bgu) { return jump_if(flags.left > flags.right); }
DVM_BODY(bge) { return jump_if(!flags.less()); }
DVM_BODY(bgeu) { return jump_if(flags.left >= flags.right); }
DVM_BODY(bl) { return jump_if(flags.less()); }
DVM_BODY(blu) { return jump_if(flags.left < flags.right); }
DVM_BODY(ble) { return jump_if(flags.less() || flags.left == flags.right); }
DVM_BODY(bleu) { return jump_if(flags.left <= flags.right); }
DVM_BODY(ret) { return NextStep::stop; }

// Memory.
#define DVM_LOAD(name, load)          \
  DVM_BODY(name) {                    \
    r[op.rd] = load(state, r[op.r1]); \
    return unless_faulted(state);     \
  }
DVM_LOAD(ldsb, load_value<int8_t>)
DVM_LOAD(ldsh, load_value<int16_t>)
DVM_LOAD(ldsw, load_value<int32_t>)
DVM_LOAD(ldub, load_value<uint8_t>)
DVM_LOAD(lduh, load_value<uint16_t>)
DVM_LOAD(lduw, load_value<uint32_t>)
DVM_LOAD(ldx, load_value<uint64_t>)
DVM_LOAD(rldsb, load_value<int8_t>)
DVM_LOAD(rldsh, load_value<int16_t>)
DVM_LOAD(rldsw, load_value<int32_t>)
DVM_LOAD(rldub, load_value<uint8_t>)
DVM_LOAD(rlduh, load_value<uint16_t>)
DVM_LOAD(rlduw, load_value<uint32_t>)
DVM_LOAD(rldx, load_value<uint64_t>)
DVM_LOAD(uldsb, load_target<int8_t>)
DVM_LOAD(uldsh, load_target<int16_t>)
DVM_LOAD(uldsw, load_target<int32_t>)
DVM_LOAD(uldub, load_target<uint8_t>)
DVM_LOAD(ulduh, load_target<uint16_t>)
DVM_LOAD(ulduw, load_target<uint32_t>)
DVM_LOAD(uldx, load_target<uint64_t>)
#undef DVM_LOAD

#define DVM_STORE(name, type)                     \
  DVM_BODY(name) {                                \
    store_value<type>(state, r[op.rd], r[op.r1]); \
    return unless_faulted(state);                 \
  }
DVM_STORE(stb, uint8_t)
DVM_STORE(sth, uint16_t)
DVM_STORE(stw, uint32_t)
DVM_STORE(stx, uint64_t)
#undef DVM_STORE

DVM_BODY(allocs) {
  const uint64_t size = r[op.r1];
  std::byte* to = allocate_scratch(state, size);
  if (!to) return NextStep::stop;
  std::memset(to, 0, size);
  state.units += size;
  r[op.rd] = address_of(to);
  return NextStep::next;
}
DVM_BODY(copys) {
  const uint64_t size = r[op.r2];
  if (size == 0) return NextStep::next;
  const std::byte* from = load_bytes(state, r[op.r1], size);
  std::byte* to = from ? store_bytes(state, r[op.rd], size) : nullptr;
  if (!to) return NextStep::stop;
  std::memmove(to, from, size);
  state.units += size;
  return NextStep::next;
}

// Tables.
DVM_BODY(setx) {
  r[op.rd] = op.value;
  return NextStep::next;
}
DVM_BODY(sets) {
  r[op.rd] = op.value;
  return NextStep::next;
}

// Variables.
DVM_BODY(ldgs) {
  r[op.rd] = op.getter ? op.getter(state, 0) : load_scalar(state, state.variables.globals, op.id);
  return unless_faulted(state);
}
DVM_BODY(ldga) {
  r[op.rd] = op.getter(state, r[op.r2]);
  return unless_faulted(state);
}
DVM_BODY(ldta) {
  state.set_fault(dif::Fault::illop);
  return NextStep::stop;
}
DVM_BODY(ldls) {
  r[op.rd] = load_scalar(state, state.locals, op.id);
  return unless_faulted(state);
}
DVM_BODY(stgs) {
  store_scalar(state, state.variables.globals, op.id, r[op.rd]);
  return unless_faulted(state);
}
DVM_BODY(stls) {
  store_scalar(state, state.locals, op.id, r[op.rd]);
  return unless_faulted(state);
}
#define DVM_DYNAMIC(load, store, thread, keyed)           \
  DVM_BODY(load) {                                        \
    r[op.rd] = load_dynamic(state, op.id, thread, keyed); \
    return unless_faulted(state);                         \
  }                                                       \
  DVM_BODY(store) {                                       \
    store_dynamic(state, op.id, thread, keyed, r[op.rd]); \
    return unless_faulted(state);                         \
  }
DVM_DYNAMIC(ldts, stts, true, false)
DVM_DYNAMIC(ldgaa, stgaa, false, true)
DVM_DYNAMIC(ldtaa, sttaa, true, true)
#undef DVM_DYNAMIC

// The tuple stack and calls.
DVM_BODY(pushtv) {
  state.tuple.push({r[op.rd], 0, dif::PushType::value, nullptr});
  return NextStep::next;
}
DVM_BODY(pushtr) {
  push_reference(state, static_cast<dif::PushType>(op.r1), r[op.rd], r[op.r2]);
  return unless_faulted(state);
}
DVM_BODY(popts) {
  state.tuple.depth--;
  return NextStep::next;
}
DVM_BODY(flushts) {
  state.tuple.depth = 0;
  return NextStep::next;
}
DVM_BODY(call) {
  r[op.rd] = op.subr(state);
  state.tuple.depth = 0;
  return unless_faulted(state);
}

// The verifier rejects these two.
DVM_BODY(xlate) {
  state.set_fault(dif::Fault::illop);
  return NextStep::stop;
}
DVM_BODY(xlarg) {
  state.set_fault(dif::Fault::illop);
  return NextStep::stop;
}

#undef DVM_BODY

}  // namespace dvm::vm::interp
