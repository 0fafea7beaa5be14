// Sums of tallies and the price of the clock. Covered by tests/unit/vm/cost_test.cpp.

#include <algorithm>
#include <array>

#include "dvm/vm/cost.h"
#include "vm/cost/policy.h"

namespace dvm::vm {

namespace {

template <class Tallies>
void add(Tallies& into, const Tallies& from) {
  for (size_t i = 0; i < into.size(); i++) into[i] += from[i];
}

}  // namespace

Counts& Counts::operator+=(const Counts& o) {
  add(opcodes, o.opcodes);
  add(variants, o.variants);
  add(elsewhere, o.elsewhere);
  add(subroutines, o.subroutines);
  add(variables, o.variables);
  add(strings, o.strings);
  key_values += o.key_values;
  key_references += o.key_references;
  return *this;
}

void add_instructions(InstructionCounts& into, const InstructionCounts& from) {
  into.resize(std::max(into.size(), from.size()));
  for (size_t pc = 0; pc < from.size(); pc++) {
    into[pc].entered += from[pc].entered;
    into[pc].taken += from[pc].taken;
    into[pc].moved += from[pc].moved;
  }
}

std::vector<double> pushed_bytes(const dif::Difo& difo, std::span<const InstructionCount> counts) {
  std::vector<double> bytes(difo.text.size());
  double pushed = 0;
  for (size_t pc = 0; pc < std::min(bytes.size(), counts.size()); pc++) {
    const dif::Opcode opcode = difo.text[pc].opcode();
    bytes[pc] = pushed;
    if (opcode == dif::Opcode::flushts || opcode == dif::Opcode::call)
      pushed = 0;
    else if (opcode == dif::Opcode::pushtr && counts[pc].entered != 0)
      pushed += static_cast<double>(counts[pc].moved) / static_cast<double>(counts[pc].entered);
  }
  return bytes;
}

int64_t calibrate_ticks() noexcept {
  constexpr int kReadings = 256;
  std::array<int64_t, 7> rounds;
  for (int64_t& round : rounds) {
    const uint64_t begin = read_ticks();
    uint64_t last = begin;
    for (int i = 0; i < kReadings; i++) last = read_ticks();
    round = static_cast<int64_t>(last - begin) / kReadings;
  }
  std::sort(rounds.begin(), rounds.end());
  return rounds[rounds.size() / 2];
}

}  // namespace dvm::vm
