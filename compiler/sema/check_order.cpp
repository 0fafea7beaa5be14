// The order of a clause's actions: what may follow speculate() and commit(). Tests: tests/golden/sema (err.D_SPEC_*,
// err.D_COMM_*, err.D_*_SPEC, err.D_*_COMM).
#include <fmt/format.h>

#include "compiler/sema/check_action.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

namespace {

enum class ActionClass : uint8_t { commit, speculate, aggregation, destructive, exit, record, none };

struct Rule {
  ActionClass before, now;
  Tag tag;
  const char* message;
};
constexpr Rule kRules[] = {
    {ActionClass::record, ActionClass::commit, Tag::D_COMM_DREC, "commit( ) may not follow data-recording action(s)"},
    {ActionClass::commit, ActionClass::aggregation, Tag::D_AGG_COMM, "aggregating actions may not follow commit( )"},
    {ActionClass::speculate, ActionClass::speculate, Tag::D_SPEC_SPEC, "speculate( ) may not follow speculate( )"},
    {ActionClass::commit, ActionClass::speculate, Tag::D_SPEC_COMM, "speculate( ) may not follow commit( )"},
    {ActionClass::record, ActionClass::speculate, Tag::D_SPEC_DREC, "speculate( ) may not follow data-recording action(s)"},
    {ActionClass::speculate, ActionClass::aggregation, Tag::D_AGG_SPEC, "aggregating actions may not follow speculate( )"},
    {ActionClass::speculate, ActionClass::destructive, Tag::D_ACT_SPEC, "destructive actions may not follow speculate( )"},
    {ActionClass::speculate, ActionClass::exit, Tag::D_EXIT_SPEC, "exit( ) may not follow speculate( )"},
    {ActionClass::commit, ActionClass::exit, Tag::D_DREC_COMM, "data-recording actions may not follow commit( )"},
    {ActionClass::commit, ActionClass::record, Tag::D_DREC_COMM, "data-recording actions may not follow commit( )"},
};

ActionClass class_of(const CheckedAction& action) {
  if (dif::find_aggregation(action.kind)) return ActionClass::aggregation;
  if (dif::find_action(action.kind)->destructive) return ActionClass::destructive;
  switch (action.kind) {
    case dif::Action::commit:
      return ActionClass::commit;
    case dif::Action::speculate:
      return ActionClass::speculate;
    case dif::Action::exit:
      return ActionClass::exit;
    case dif::Action::discard:
    case dif::Action::expression:
      return ActionClass::none;
    default:
      return ActionClass::record;
  }
}

// The parts that the actions so far belong to, as far as they restrict those that follow.
struct Seen {
  bool commit = false, speculate = false, record = false;

  bool has(ActionClass part) const {
    return part == ActionClass::commit      ? commit
           : part == ActionClass::speculate ? speculate
                                            : part == ActionClass::record && record;
  }
  void add(ActionClass part) {
    commit |= part == ActionClass::commit;
    speculate |= part == ActionClass::speculate;
    record |= part == ActionClass::aggregation || (!speculate && (part == ActionClass::record || part == ActionClass::exit));
  }
};

bool keeps_order(const std::vector<CheckedAction>& actions, Session& s) {
  Seen seen;
  bool good = true;
  for (const CheckedAction& action : actions) {
    const ActionClass part = class_of(action);
    for (const Rule& rule : kRules) {
      if (rule.now != part || !seen.has(rule.before)) continue;
      s.error(rule.tag, action.where, rule.message);
      good = false;
      break;
    }
    seen.add(part);
  }
  return good;
}

void refuse(const dif::ActionInfo& row, Location where, Session& s) {
  if (row.unsupported.empty()) return;
  s.error(Tag::D_UNKNOWN, where, fmt::format("{}( ) is not available in dvm: {}", row.name, row.unsupported));
}

}  // namespace

void check_order(const std::vector<CheckedAction>& actions, Session& s) {
  if (!keeps_order(actions, s)) return;
  for (const CheckedAction& action : actions) {
    if (const dif::ActionInfo* row = dif::find_action(action.kind)) refuse(*row, action.where, s);
    for (unsigned i = 0; i < action.key_count; i++)
      if (const auto* call = as<Call>(action.args[i].get()); call && is_key_action(call->name))
        refuse(*find_by_name(dif::kActions, call->name), call->where, s);
  }
}

}  // namespace dvm::compiler
