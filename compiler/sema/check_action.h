#pragma once
// Statements to actions.

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Appends the action of one statement (which must not be an if).
void check_statement(Statement& statement, std::vector<CheckedAction>& to, Session& session);

// printf's and printa's formats against what is printed (check_printf.cpp). False after a diagnostic.
bool check_printf(const Call& call, CheckedAction& action, Session& session);
bool check_printa(Call& call, CheckedAction& action, Session& session);

// @name[keys] = function(...) (check_aggregation.cpp).
bool check_aggregation(Assign& assign, CheckedAction& action, Session& session);

// The aggregation that an argument names; null after a diagnostic with that tag.
AggregationSymbol* aggregation_argument(const Call& call, size_t index, Tag tag, Session& session);

}  // namespace dvm::compiler
