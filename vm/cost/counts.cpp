// Sums of tallies and the price of the clock. Covered by tests/unit/vm/cost_test.cpp.

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "dvm/dif/forward_flow.h"
#include "dvm/vm/cost.h"

namespace dvm::vm {

namespace {

// The bytes of each entry of the tuple stack; 0: a value.
using EntryBytes = std::vector<double>;

class PushedBytes {
 public:
  PushedBytes(size_t instructions, std::span<const InstructionCount> counts) : bytes_(instructions), counts_(counts) {}

  void step(EntryBytes& stack, dif::Instruction in, size_t pc) {
    if (!dif::is_opcode(in.number())) return;
    bytes_[pc] = std::accumulate(stack.begin(), stack.end(), 0.0);
    dif::use_tuple(stack, in, [&] { return has_format(in, dif::Format::pushts) ? bytes_at(pc) : 0; });
  }
  void join(EntryBytes& into, const EntryBytes& from, size_t) const { into = from; }

  std::vector<double> take() { return std::move(bytes_); }

 private:
  double bytes_at(size_t pc) const {
    if (pc >= counts_.size() || counts_[pc].entered == 0) return 0;
    return static_cast<double>(counts_[pc].units) / static_cast<double>(counts_[pc].entered);
  }

  std::vector<double> bytes_;
  std::span<const InstructionCount> counts_;
};

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
    into[pc].units += from[pc].units;
  }
}

std::vector<double> pushed_bytes(const dif::Difo& difo, std::span<const InstructionCount> counts) {
  PushedBytes pushed(difo.text.size(), counts);
  flow_forward(difo, EntryBytes{}, pushed);
  return pushed.take();
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
