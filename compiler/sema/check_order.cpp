// The order of a clause's actions: what may follow speculate() and commit(). Tests: tests/golden/sema (err.D_SPEC_*,
// err.D_COMM_*, err.D_*_SPEC, err.D_*_COMM).
#include <fmt/format.h>

#include "compiler/sema/check_action.h"
#include "compiler/sema/tables.h"

namespace dvm::compiler {

namespace {

enum class Part : uint8_t { commit, speculate, aggregation, destructive, exit, record, none };

struct Rule {
  Part before, now;
  Tag tag;
  const char* message;
};
constexpr Rule kRules[] = {
    {Part::record, Part::commit, Tag::D_COMM_DREC, "commit( ) may not follow data-recording action(s)"},
    {Part::commit, Part::aggregation, Tag::D_AGG_COMM, "aggregating actions may not follow commit( )"},
    {Part::speculate, Part::speculate, Tag::D_SPEC_SPEC, "speculate( ) may not follow speculate( )"},
    {Part::commit, Part::speculate, Tag::D_SPEC_COMM, "speculate( ) may not follow commit( )"},
    {Part::record, Part::speculate, Tag::D_SPEC_DREC, "speculate( ) may not follow data-recording action(s)"},
    {Part::speculate, Part::aggregation, Tag::D_AGG_SPEC, "aggregating actions may not follow speculate( )"},
    {Part::speculate, Part::destructive, Tag::D_ACT_SPEC, "destructive actions may not follow speculate( )"},
    {Part::speculate, Part::exit, Tag::D_EXIT_SPEC, "exit( ) may not follow speculate( )"},
    {Part::commit, Part::exit, Tag::D_DREC_COMM, "data-recording actions may not follow commit( )"},
    {Part::commit, Part::record, Tag::D_DREC_COMM, "data-recording actions may not follow commit( )"},
};

Part part_of(const CheckedAction& action) {
  if (dif::find_aggregation(action.kind)) return Part::aggregation;
  if (dif::find_action(action.kind)->destructive) return Part::destructive;
  switch (action.kind) {
    case dif::Action::commit:
      return Part::commit;
    case dif::Action::speculate:
      return Part::speculate;
    case dif::Action::exit:
      return Part::exit;
    case dif::Action::discard:
    case dif::Action::expression:
      return Part::none;
    default:
      return Part::record;
  }
}

// The parts that the actions so far belong to, as far as they restrict those that follow.
struct Seen {
  bool commit = false, speculate = false, record = false;

  bool has(Part part) const {
    return part == Part::commit ? commit : part == Part::speculate ? speculate : part == Part::record && record;
  }
  void add(Part part) {
    commit |= part == Part::commit;
    speculate |= part == Part::speculate;
    record |= part == Part::aggregation || (!speculate && (part == Part::record || part == Part::exit));
  }
};

bool keeps_order(const std::vector<CheckedAction>& actions, Session& s) {
  Seen seen;
  bool good = true;
  for (const CheckedAction& action : actions) {
    const Part part = part_of(action);
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
