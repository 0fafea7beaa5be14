#pragma once
// Checks statements and turns them into actions.

#include <cstdint>

#include "compiler/sema/session.h"

namespace dvm::compiler {

// Appends the action of one statement, which is not an if.
void check_statement(Statement& statement, std::vector<CheckedAction>& to, Session& session);

// Reports actions that must not follow speculate() or commit() in a clause, and actions that dvm does not support
// (check_order.cpp).
void check_order(const std::vector<CheckedAction>& actions, Session& session);

// Check the formats of printf and printa against the arguments (check_printf.cpp). False after a diagnostic.
bool check_printf(Call& call, CheckedAction& action, Session& session);
bool check_printa(Call& call, CheckedAction& action, Session& session);

// @name[keys] = function(...) (check_aggregation.cpp).
bool check_aggregation(Assign& assign, CheckedAction& action, Session& session);
// True if keys of two types may index one aggregation, or aggregations of one printa().
bool is_same_key(const Type* a, const Type* b);

// Actions on whole aggregations (check_aggregation_action.cpp).
bool check_clear(Call& call, CheckedAction& action, Session& session);
bool check_normalize(Call& call, CheckedAction& action, Session& session);
bool check_trunc(Call& call, CheckedAction& action, Session& session);
// The aggregation that an argument names. Null after a diagnostic: it names none, or one that no statement assigns.
AggregationSymbol* aggregation_argument(const Call& call, size_t index, Tag no_aggregation, Tag undefined, Session& session);

// Actions that may be keys of an aggregation too: stacks, and addresses as symbols (check_stack.cpp).
bool is_key_action(std::string_view name);
// Checks the arguments of such an action. Sets the type of the call to that of the recorded value. False after a diagnostic.
bool check_key_action(Call& call, Session& session);

// Reports an action or aggregating function inside an expression. Returns false.
bool fail_in_expression(const Call& call, Session& session);
// "printf( )", as messages name a call.
std::string spell(const Call& call);
// Reports an argument of the wrong type, in dtrace's words. Returns false.
bool wrong_argument(Tag tag, const Call& call, size_t index, std::string_view prototype, Session& session);
// Checks the number of arguments. False after a diagnostic.
struct Arity {
  size_t least, most;
};
bool check_count(const Call& call, Arity arity, Tag tag, Session& session);
// Sets `value` and returns true if the expression is a constant above 0.
bool positive_constant(const Expr& e, int64_t& value);

}  // namespace dvm::compiler
