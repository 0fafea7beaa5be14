#pragma once
// The context in which @name[keys] = function(value, ...) is checked: check_aggregation.cpp checks keys, arguments and agreement
// with earlier uses, check_quantize.cpp the parameters of lquantize and llquantize.

#include <string>
#include <vector>

#include "compiler/sema/expr_context.h"
#include "dvm/dif/instruction.h"

namespace dvm::compiler {

struct AggregationCheck {
  AggregationCheck(Assign& assign, CheckedAction& to, Session& s)
      : session(s), action(to), context(s), target(*as<Aggregation>(assign.target.get())), value(assign.value.get()) {}

  Session& session;
  CheckedAction& action;
  ExprContext context;
  Aggregation& target;
  Expr* value;
  Call* call = nullptr;
  const dif::AggregationInfo* row = nullptr;
  std::vector<const Expr*> constants;  // the arguments that are not recorded
  std::vector<int64_t> parameters;     // their values
};

// False, after a diagnostic.
bool fail(AggregationCheck& c, Tag tag, Location where, std::string message, std::vector<std::string> hints = {});
// Sets the parameters from the constants. False after a diagnostic.
bool check_quantize_parameters(AggregationCheck& c);

}  // namespace dvm::compiler
