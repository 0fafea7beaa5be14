// Tested by tests/runtime.

#include "dvm/dif/destructive.h"

#include "dvm/dif/action.h"
#include "dvm/dif/opcode.h"
#include "dvm/dif/subroutine.h"

namespace dvm::dif {
namespace {

std::string_view destructive_subroutine(const Difo& difo) {
  for (const Instruction in : difo.text) {
    const bool is_call = has_format(in, Format::call) && in.index() < kSubroutineCount;
    if (is_call && kSubroutines[in.index()].destructive) return kSubroutines[in.index()].name;
  }
  return {};
}

}  // namespace

std::string_view destructive_part(const EcbDesc& clause) {
  for (const ActDesc& action : clause.actions)
    if (const ActionInfo* info = find_action(action.kind); info && info->destructive) return info->name;
  std::string_view name = clause.predicate ? destructive_subroutine(clause.predicate->difo) : std::string_view();
  for (const ActDesc& action : clause.actions)
    for (const RecDesc& argument : action.args)
      if (name.empty()) name = destructive_subroutine(argument.difo);
  return name;
}

}  // namespace dvm::dif
