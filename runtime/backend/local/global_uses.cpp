// Tested by tests/unit/runtime/global_uses_test.cpp.

#include "runtime/backend/local/global_uses.h"

#include <algorithm>

#include "dvm/dif/register_use.h"
#include "runtime/instrument/known_value.h"

namespace dvm::runtime {
namespace {

using dif::Instruction;

bool is_of_global(Instruction in, dif::Format format, uint16_t id) {
  return dif::has_format(in, format) && dif::info(in.opcode()).scope == dif::Scope::global && in.index() == id;
}

auto loads_of(uint16_t id) {
  return [id](Instruction in) { return is_of_global(in, dif::Format::ldv, id); };
}
auto stores_of(uint16_t id) {
  return [id](Instruction in) { return is_of_global(in, dif::Format::stv, id); };
}

// The instruction makes a sum, or a difference from a loaded value: an address would stay one.
bool makes_sum(Instruction in, unsigned loaded) {
  const auto address = known::KnownValue::of(Word()), number = known::KnownValue::constant(1);
  const bool is_first = in.r1() == loaded, is_second = in.r2() == loaded;
  if (!dif::has_format(in, dif::Format::log) || is_first == is_second) return false;
  return known::of_operation(in.opcode(), is_first ? address : number, is_first ? number : address).is_word();
}

bool touches(Instruction in, unsigned reg) {
  const dif::RegisterUse use = dif::registers_of(in);
  return ((use.reads | use.writes) >> reg & 1U) != 0;
}

}  // namespace

bool loads_global(const dif::Difo& difo, uint16_t id) { return std::any_of(difo.text.begin(), difo.text.end(), loads_of(id)); }

bool stores_global(const dif::Difo& difo, uint16_t id) { return std::any_of(difo.text.begin(), difo.text.end(), stores_of(id)); }

bool only_adds(const dif::Difo& difo, uint16_t id) {
  const auto& text = difo.text;
  const bool is_once = std::count_if(text.begin(), text.end(), loads_of(id)) == 1;
  if (!is_once || std::any_of(text.begin(), text.end(), [](Instruction in) { return dif::is_branch(in); })) return false;
  const auto load = std::find_if(text.begin(), text.end(), loads_of(id));
  const auto store = std::find_if(text.begin(), text.end(), stores_of(id));
  if (text.end() - store != 2 || store - load < 2 || !dif::is_return(text.back()) || text.back().rd() != 0) return false;
  if (!makes_sum(*(store - 1), load->rd()) || (store - 1)->rd() != store->rd()) return false;
  return std::none_of(load + 1, store - 1, [&](Instruction in) { return touches(in, load->rd()); });
}

unsigned global_accesses(const dif::Difo& difo, uint16_t id) {
  const auto& text = difo.text;
  const auto store = std::find_if(text.begin(), text.end(), stores_of(id));
  const auto loads = std::count_if(store, text.end(), loads_of(id)), stores = std::count_if(store, text.end(), stores_of(id));
  if (store == text.end()) return static_cast<unsigned>(std::count_if(text.begin(), text.end(), loads_of(id)));
  return static_cast<unsigned>(loads + stores);
}

}  // namespace dvm::runtime
